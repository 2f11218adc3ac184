"""A tool's parameters on one line: `list_issues(repo: string, state?: "open"|"closed" = "open")`.

A signature takes about an eighth of the tokens of its schema: it has no descriptions and bounds, and `…` for the rest.
Any schema takes little work, because a server may list one that refers to itself many times over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.formats.flatten import brief
from octoc.formats.references import Resources

_MOST_REQUIRED = 40
_MOST_OPTIONAL = 8
_MOST_VALUES = 8
_MOST_OPTIONS = 4
_MOST_INSIDE = 6
_DEEPEST = 3
_LONGEST_VALUE = 24
_LONGEST_OPTIONAL = 80


def signature(name: str, schema: Any) -> str:
    """Return a tool's name with its parameters, the required ones first, in the schema's order."""
    shown = _Types(schema).parameters(schema, 0, _MOST_OPTIONAL) if isinstance(schema, Mapping) else ""
    return f"{name}({shown})"


class _Types:
    """Types as text, by the references of one schema."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._resources: Resources | None = None

    def parameters(self, node: Mapping[str, Any], depth: int, most: int) -> str:
        """Return the properties of an object, required ones first: at most `_MOST_REQUIRED`, inside another `most`."""
        properties = node.get("properties")
        if not isinstance(properties, Mapping):
            return ""
        listed = node.get("required")
        required = {one for one in listed if isinstance(one, str)} if isinstance(listed, list) else set()
        first = [key for key in properties if key in required][: most if depth else _MOST_REQUIRED]
        others = [key for key in properties if key not in required][:most]
        parts = [f"{key}: {self.type(properties[key], depth)}" for key in first]
        parts += [f"{key}?: {self._optional(properties[key], depth)}" for key in others]
        return ", ".join([*parts, "…"] if len(parts) < len(properties) else parts)

    def type(self, node: Any, depth: int) -> str:
        """Return the type of a value, `any` where the schema does not say."""
        node = self._target(node)
        if not isinstance(node, Mapping) or depth > _DEEPEST:
            return "any" if depth <= _DEEPEST else "…"
        if "const" in node:
            return brief(node["const"], _LONGEST_VALUE)
        enum = node.get("enum")
        if isinstance(enum, list) and enum:
            return _either([brief(value, _LONGEST_VALUE) for value in enum[: _MOST_VALUES + 1]], _MOST_VALUES)
        for word in ("anyOf", "oneOf", "allOf"):
            options = node.get(word)
            if isinstance(options, list) and options:
                types = [self.type(option, depth + 1) for option in options[: _MOST_OPTIONS + 1]]
                return _either(types, _MOST_OPTIONS) if word != "allOf" else " & ".join(types[:_MOST_OPTIONS])
        kinds = node.get("type")
        if isinstance(kinds, list):
            return _either([self._of_kind(kind, node, depth) for kind in kinds[: _MOST_OPTIONS + 1]], _MOST_OPTIONS)
        return self._of_kind(kinds or ("object" if "properties" in node else "any"), node, depth)

    def _of_kind(self, kind: Any, node: Mapping[str, Any], depth: int) -> str:
        if kind == "array":
            inside = self.type(node.get("items", True), depth + 1)
            return f"({inside})[]" if "|" in inside or "&" in inside else f"{inside}[]"
        if kind == "object":
            inside = self.parameters(node, depth + 1, _MOST_INSIDE) if depth < _DEEPEST else ""
            return f"{{{inside}}}" if inside else "object"
        form = node.get("format")
        return f"{kind} ({form})" if kind == "string" and isinstance(form, str) else str(kind)

    def _optional(self, node: Any, depth: int) -> str:
        """Return a type with its default; an optional value says nothing with `null`."""
        target = self._target(node)
        text = "|".join(one for one in self.type(target, depth).split("|") if one != "null") or "null"
        if len(text) > _LONGEST_OPTIONAL:
            text = "…[]" if text.endswith("[]") else "{…}" if text.startswith("{") else "…"
        for one in (node, target):
            if isinstance(one, Mapping) and one.get("default") is not None:
                return f"{text} = {brief(one['default'], _LONGEST_VALUE)}"
        return text

    def _target(self, node: Any) -> Any:
        """Return the schema that a reference leads to; any other schema as it is."""
        for _ in range(_DEEPEST):
            reference = node.get("$ref") if isinstance(node, Mapping) else None
            if not isinstance(reference, str):
                break
            if self._resources is None:
                self._resources = Resources(self._schema)
            node = self._resources.target((), reference)
        return node


def _either(types: list[str], most: int) -> str:
    kinds = list(dict.fromkeys(types))
    return "|".join([*kinds[:most], "…"] if len(kinds) > most else kinds)
