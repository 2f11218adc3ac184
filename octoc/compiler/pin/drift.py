"""How the tools and offers of a server changed: what breaks right calls, what widens them, what only words them.

A call is judged by the arguments that the old schema describes: one that named only those and was right must stay
right. What the keywords do not show, as a change inside `anyOf` or `$ref`, counts as breaking.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from octoc.lists import name_list
from octoc.results import ServerListing


class DriftKind(enum.StrEnum):
    """How bad a change is, from the worst."""

    BREAKING = "breaking"
    WIDENING = "widening"
    WORDING = "wording"


@attrs.frozen(kw_only=True)
class ToolDrift:
    """One change of one tool, or of an offer, such as `prompt review`; `text` is a few words."""

    tool: str
    kind: DriftKind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: `{self.tool}` {self.text}"


Change = tuple[DriftKind, str]
_BREAKING, _WIDENING, _WORDING = DriftKind.BREAKING, DriftKind.WIDENING, DriftKind.WORDING

_ANNOTATIONS = frozenset(
    {"$comment", "$schema", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
_LOWER_BOUNDS = frozenset({"exclusiveMinimum", "minItems", "minLength", "minProperties", "minimum"})
_UPPER_BOUNDS = frozenset({"exclusiveMaximum", "maxItems", "maxLength", "maxProperties", "maximum"})
_OTHERS = frozenset(
    {
        "$defs", "$dynamicRef", "$ref", "additionalItems", "allOf", "anyOf", "contains", "definitions", "dependencies",
        "dependentRequired", "dependentSchemas", "else", "format", "if", "maxContains", "minContains", "multipleOf",
        "not", "oneOf", "pattern", "patternProperties", "prefixItems", "propertyNames", "then", "unevaluatedItems",
        "unevaluatedProperties", "uniqueItems", "$id", "$anchor", "$dynamicAnchor", "id", "$recursiveRef",
    }
)  # fmt: skip
"""Keywords that are compared whole: without one there is less to meet, with another the effect is unknown."""
_SCHEMAS = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
        "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
_LISTS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_NAMED = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
_ALL_TYPES = frozenset({"array", "boolean", "null", "number", "object", "string"})


def drift(old: ServerListing, new: ServerListing) -> tuple[ToolDrift, ...]:
    """Return every change from one listing to the next: by tool, the worst first, then by offer."""
    before = {tool.name: tool.wire for tool in old.tools}
    after = {tool.name: tool.wire for tool in new.tools}
    found: list[ToolDrift] = []
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            found.append(ToolDrift(tool=name, kind=_WIDENING, text="added"))
        elif name not in after:
            found.append(ToolDrift(tool=name, kind=_BREAKING, text="removed"))
        else:
            found.extend(
                ToolDrift(tool=name, kind=kind, text=text)
                for kind, text in _ordered(_of_tool(before[name], after[name]))
            )
    return (*found, *_of_offers(old, new))


def _of_offers(old: ServerListing, new: ServerListing) -> Iterator[ToolDrift]:
    before = {f"{offer.kind} {offer.name}": offer.wire for offer in old.offers}
    after = {f"{offer.kind} {offer.name}": offer.wire for offer in new.offers}
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            yield ToolDrift(tool=name, kind=_WIDENING, text="added")
        elif name not in after:
            yield ToolDrift(tool=name, kind=_BREAKING, text="removed")
        else:
            one, other = before[name], after[name]
            more = _required(other) - _required(one)
            for argument in sorted(more):
                yield ToolDrift(tool=name, kind=_BREAKING, text=f"argument `{argument}` is required")
            changed = [key for key in sorted(one.keys() | other.keys()) if not _same(one.get(key), other.get(key))]
            for key in changed if not more else ():
                yield ToolDrift(tool=name, kind=_WORDING, text=f"{key} changed")


def _required(wire: Mapping[str, Any]) -> set[str]:
    """Return the names of a prompt's required arguments."""
    arguments = wire.get("arguments")
    entries = [entry for entry in arguments if isinstance(entry, Mapping)] if isinstance(arguments, list) else []
    return {str(entry.get("name")) for entry in entries if entry.get("required") is True}


def _ordered(changes: Iterator[Change]) -> tuple[Change, ...]:
    kinds = list(DriftKind)
    return tuple(sorted(dict.fromkeys(changes), key=lambda change: kinds.index(change[0])))


def _of_tool(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        one, other = old.get(key), new.get(key)
        if _same(one, other):
            continue
        if key == "inputSchema":
            yield from _compared({} if one is None else one, {} if other is None else other, "")
        elif key == "outputSchema":
            yield _output(one, other)
        elif key in {"annotations", "execution"}:
            yield _WIDENING, f"{key} changed: what the server says that a call does"
        else:
            yield _WORDING, f"{key} changed"


def _output(old: Any, new: Any) -> Change:
    if old is None:
        return _WIDENING, "output schema added"
    # What is read was promised by the old schema, so every new result has to meet it.
    if new is None or any(kind is _BREAKING for kind, _ in _compared(new, old, "")):
        return _BREAKING, "results may be others: output schema changed"
    return _WIDENING, "output schema changed"


def _compared(old: Any, new: Any, where: str) -> Iterator[Change]:
    what = _named_part(where)
    if _same(old, new):
        return
    if new is False or old is False:
        yield (_BREAKING, f"{what}: refused") if new is False else (_WIDENING, f"{what}: taken")
        return
    old, new = ({} if schema is True else schema for schema in (old, new))
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        yield _BREAKING, f"{what}: schema changed"
        return
    if _same(_meaning(old), _meaning(new)):
        yield _WORDING, f"{what}: description changed"
        return
    found = [*_parts(old, new, where, what)]
    # A change that no rule of ours knows, as in a server's own keyword, is at least reported.
    yield from found or [(_WORDING, f"{what}: written otherwise")]


def _parts(old: Mapping[str, Any], new: Mapping[str, Any], where: str, what: str) -> Iterator[Change]:
    if not _same(_annotations(old), _annotations(new)):
        yield _WORDING, f"{what}: description changed"
    yield from _types(old, new, what)
    yield from _values(old, new, what)
    yield from _bounds(old, new, what)
    yield from _properties(old, new, where)
    yield from _items(old, new, where)
    for key in sorted(_OTHERS):
        one, other = _one_meaning(key, old.get(key)), _one_meaning(key, new.get(key))
        if _same(one, other):
            continue
        is_freed = other is None and key not in _SUPPORT
        yield (_WIDENING if is_freed else _BREAKING), f"{what}: `{key}` {'removed' if other is None else 'changed'}"


_SUPPORT = frozenset(
    {
        "$anchor", "$defs", "$dynamicAnchor", "$id", "$ref", "contains", "definitions", "else", "id", "if",
        "minContains", "patternProperties", "prefixItems", "then",
    }
)  # fmt: skip
"""Those that others lean on: without them the rest of a schema may mean something else."""


def _named_part(where: str) -> str:
    if not where:
        return "arguments"
    owner, _, last = where.rpartition(".")
    if last != "*":
        return f"argument `{where}`"
    return f"other arguments in `{owner}`" if owner else "other arguments"


def _same(one: Any, other: Any) -> bool:
    """Compare as JSON does, where 1 is not true."""
    return one is other or json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _types(old: Mapping[str, Any], new: Mapping[str, Any], what: str) -> Iterator[Change]:
    before, after = _type_set(old), _type_set(new)
    if before == after:
        return
    shown = f"{_shown(old.get('type'))} became {_shown(new.get('type'))}"
    lost = {kind for kind in before if kind not in after and not (kind == "integer" and "number" in after)}
    yield (_BREAKING if lost else _WIDENING), f"{what}: type {shown}"


def _type_set(schema: Mapping[str, Any]) -> frozenset[str]:
    written = schema.get("type")
    if isinstance(written, str):
        return frozenset({written})
    return frozenset(map(str, written)) if isinstance(written, list) else _ALL_TYPES


def _shown(written: Any) -> str:
    if written is None:
        return "any"
    return "/".join(map(str, written)) if isinstance(written, list) else str(written)


def _values(old: Mapping[str, Any], new: Mapping[str, Any], what: str) -> Iterator[Change]:
    before, after = _value_list(old), _value_list(new)
    if before == after:
        return
    if after is None:
        yield _WIDENING, f"{what}: any value is taken"
    elif before is None:
        yield _BREAKING, f"{what}: only certain values are taken"
    else:
        # Compared with their types: 1 and true are equal in Python and not in JSON.
        lost = [value for value in before if value not in after]
        added = [value for value in after if value not in before]
        if lost:
            yield _BREAKING, f"{what}: {name_list(value for _, value in lost)} not taken any more"
        if added:
            yield _WIDENING, f"{what}: {name_list(value for _, value in added)} taken too"


def _value_list(schema: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list):
        return None
    if "const" in schema and isinstance(schema.get("enum"), list) and schema["const"] not in schema["enum"]:
        values = []
    return sorted((type(value).__name__, repr(value)) for value in values)


def _bounds(old: Mapping[str, Any], new: Mapping[str, Any], what: str) -> Iterator[Change]:
    for key in sorted(_LOWER_BOUNDS | _UPPER_BOUNDS):
        before, after = old.get(key), new.get(key)
        if before == after and type(before) is type(after):
            continue
        if after is None:
            yield _WIDENING, f"{what}: `{key}` removed"
        elif _is_number(before) and _is_number(after):
            is_tighter = after > before if key in _LOWER_BOUNDS else after < before
            yield (_BREAKING if is_tighter else _WIDENING), f"{what}: `{key}` is {after}, was {before}"
        else:
            yield _BREAKING, f"{what}: `{key}` is {after}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _properties(old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> Iterator[Change]:
    before, after = _mapping(old, "properties"), _mapping(new, "properties")
    rest_before, rest_after = old.get("additionalProperties", True), new.get("additionalProperties", True)
    for name in sorted(before.keys() | after.keys()):
        at = f"{where}.{name}" if where else name
        if name in before and name in after:
            yield from _compared(before[name], after[name], at)
        elif name in before:
            if rest_after is False or "unevaluatedProperties" in new or "propertyNames" in new:
                yield _BREAKING, f"argument `{at}` removed"
            else:
                yield _WIDENING, f"argument `{at}` removed, and still taken"
                yield from _compared(before[name], rest_after, at)
        else:
            yield _WIDENING, f"argument `{at}` added"
            if not isinstance(rest_before, bool):  # it was one of the arguments of any name
                yield from _compared(rest_before, after[name], at)
    required, was_required = _names(new, "required"), _names(old, "required")
    for name in sorted(required - was_required):
        yield _BREAKING, f"argument `{where}.{name}` is required" if where else f"argument `{name}` is required"
    for name in sorted(was_required - required):
        yield _WIDENING, f"argument `{where}.{name}` is optional" if where else f"argument `{name}` is optional"
    if not _same(rest_before, rest_after):
        yield from _compared(rest_before, rest_after, f"{where}.*" if where else "*")


def _items(old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> Iterator[Change]:
    before, after = old.get("items", True), new.get("items", True)
    if _same(before, after):
        return
    what = _named_part(where)
    if isinstance(before, list) or isinstance(after, list):
        if not _same(_one_meaning("items", before), _one_meaning("items", after)):
            yield _BREAKING, f"{what}: `items` changed"
        return
    yield from _compared(before, after, f"{where}[]")


def _mapping(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = schema.get(key)
    return value if isinstance(value, Mapping) else {}


def _names(schema: Mapping[str, Any], key: str) -> frozenset[str]:
    value = schema.get(key)
    return frozenset(name for name in value if isinstance(name, str)) if isinstance(value, list) else frozenset()


def _annotations(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key in _ANNOTATIONS}


def _meaning(schema: Any) -> Any:
    """Return a schema without what only describes, at any depth."""
    if not isinstance(schema, Mapping):
        return schema
    return {key: _one_meaning(key, value) for key, value in schema.items() if key not in _ANNOTATIONS}


def _one_meaning(key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        if key in _NAMED:
            return {name: _meaning(item) for name, item in value.items()}
        return _meaning(value) if key in _SCHEMAS else dict(value)
    if isinstance(value, list) and key in _LISTS:
        return [_meaning(item) for item in value]
    if isinstance(value, list) and key in {"required", "type"}:
        return sorted(map(repr, value))
    return value
