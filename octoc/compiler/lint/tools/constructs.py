"""Find the constructs of `octoc.formats.providers` in a schema, with their paths."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from octoc.diagnostics.model import KeyPath
from octoc.formats.providers import PROPERTY_NAMES, PROVIDER_RULES, TEXT_FORMATS
from octoc.formats.walk import subschemas

_ROOT = frozenset(rule.construct.removeprefix("root:") for rule in PROVIDER_RULES if rule.construct.startswith("root:"))
_ANYWHERE = frozenset(
    rule.construct.removeprefix("keyword:") for rule in PROVIDER_RULES if rule.construct.startswith("keyword:")
)


def constructs_of(schema: Mapping[str, Any]) -> dict[tuple[str, str], list[KeyPath]]:
    """Return (construct, provider) -> paths in the file's order; the provider is "" for a construct of all of them."""
    paths: dict[tuple[str, str], list[KeyPath]] = {}

    def add(construct: str, path: KeyPath, provider: str = "") -> None:
        paths.setdefault((construct, provider), []).append(path)

    for keyword in _ROOT.intersection(schema):
        add(f"root:{keyword}", (keyword,))
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for provider, (_, pattern) in PROPERTY_NAMES.items():
            for name in properties:
                if not pattern.fullmatch(name):
                    add("property-name", ("properties", name), provider)
    for path, one in subschemas(schema):
        for keyword in _ANYWHERE.intersection(one):
            add(f"keyword:{keyword}", (*path, keyword))
        _add_constructs(one, path, add)
    return paths


def is_refused(schema: Any, providers: Collection[str]) -> bool:
    """Return whether one of `providers` refuses a request that has a tool with this input schema."""
    if not isinstance(schema, Mapping):
        return False
    found = constructs_of(schema)
    refusing = (rule for rule in PROVIDER_RULES if rule.provider in providers and not rule.drops)
    return any((rule.construct, "") in found or (rule.construct, rule.provider) in found for rule in refusing)


def _add_constructs(one: Mapping[str, Any], path: KeyPath, add: Callable[[str, KeyPath], None]) -> None:
    kind = one.get("type")
    if isinstance(kind, list):
        add("type-list", (*path, "type"))
    items = one.get("items")
    if isinstance(items, list):
        add("list-items", (*path, "items"))
    elif kind == "array" and items is None and "prefixItems" not in one:
        add("array-without-items", path)
    values = one.get("enum")
    if isinstance(values, list) and not all(isinstance(value, str) for value in values):
        add("enum-not-text", (*path, "enum"))
    if isinstance(one.get("exclusiveMinimum"), bool):
        add("boolean-bound", (*path, "exclusiveMinimum"))
    if isinstance(one.get("exclusiveMaximum"), bool):
        add("boolean-bound", (*path, "exclusiveMaximum"))
    if kind == "string" and isinstance(one.get("format"), str) and one["format"] not in TEXT_FORMATS:
        add("text-format", (*path, "format"))
