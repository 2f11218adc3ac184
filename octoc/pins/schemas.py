"""How one JSON Schema of arguments or results differs from another, by the rules of `octoc.pins.rules`.

A call is judged by the arguments that the old schema describes: one that named only those and was right must stay
right unless a breaking rule reports the change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from octoc.formats.flatten import brief
from octoc.formats.walk import MANY, NAMED, ONE
from octoc.lists import name_list
from octoc.pins.expand import TEXTS, expanded
from octoc.pins.rules import KEYWORDS, LOWER_BOUNDS, RULES, UPPER_BOUNDS, ChangeClass, ChangeRule, plain_name

_ALL_TYPES = frozenset({"array", "boolean", "null", "number", "object", "string"})
_ALTERNATIVES = ("anyOf", "allOf")
_UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})


@attrs.frozen
class Finding:
    """One change of a schema: `at` is what changed, `old` and `new` are what its rule's text shows of them."""

    rule: ChangeRule
    at: str
    old: str = ""
    new: str = ""


_encoded = json.JSONEncoder(sort_keys=True).encode


def same(one: Any, other: Any) -> bool:
    """Compare as JSON does, where 1 is not true."""
    if one is other or (isinstance(one, str) and isinstance(other, str)):
        return bool(one == other)
    return _encoded(one) == _encoded(other)


def schema_changes(old: Any, new: Any, noun: str = "argument") -> tuple[Finding, ...]:
    """Return every change of a schema, the worst first. `noun` is what one property is called."""
    if same(old, new):
        return ()
    one, other = expanded(old), expanded(new)
    found = list(_Comparison(noun).changes(one, other, "")) if not same(one, other) else []
    # Something changed that no rule knows, as a definition without a use.
    found = found or [Finding(RULES["schema-rewritten"], _Comparison(noun).name(""))]
    order = {kind: index for index, kind in enumerate(ChangeClass)}
    return tuple(sorted(dict.fromkeys(found), key=lambda one: order[one.rule.kind]))


_OUTPUT = {
    "parameter-added": "output-field-removed",
    "parameter-required-added": "output-field-removed",
    "parameter-removed": "output-field-added",
    "parameter-renamed": "output-field-renamed",
    "parameter-optional": "output-field-required",
    "parameter-required": "output-field-optional",
    "type-changed": "output-type-changed",
    "type-widened": "output-type-narrowed",
    "nullable-removed": "output-type-changed",
    "nullable-added": "output-type-narrowed",
    "enum-narrowed": "output-enum-widened",
    "enum-widened": "output-enum-narrowed",
    "schema-rewritten": "schema-rewritten",
}
_OUTPUT_OF_CLASS = {
    ChangeClass.BREAKING: "output-loosened",
    ChangeClass.WIDENING: "output-tightened",
    ChangeClass.WORDING: "output-text-changed",
}


def output_changes(old: Any, new: Any) -> tuple[Finding, ...]:
    """Return every change of an output schema: what breaks is a new result that does not meet the old schema."""
    if old is None or new is None:
        return (Finding(RULES["output-schema-added" if old is None else "output-schema-removed"], ""),)
    # Who reads results accepts what the old schema accepts, as a server accepts arguments: old and new change places.
    found = schema_changes(new, old, "result field")
    return tuple(
        Finding(RULES[_OUTPUT.get(one.rule.name, _OUTPUT_OF_CLASS[one.rule.kind])], one.at, one.new, one.old)
        for one in found
    )


@attrs.frozen
class _Comparison:
    noun: str

    def name(self, where: str) -> str:
        """Return what is at a path, for a message."""
        if not where:
            return f"{self.noun}s"
        owner, _, last = where.rpartition(".")
        if last != "*":
            return f"{self.noun} `{where}`"
        return f"other {self.noun}s in `{owner}`" if owner else f"other {self.noun}s"

    def changes(self, old: Any, new: Any, where: str) -> Iterator[Finding]:
        at = self.name(where)
        if same(old, new):
            return
        if new is False or old is False:
            yield Finding(RULES["schema-closed" if new is False else "schema-opened"], at)
            return
        old, new = ({} if schema is True else schema for schema in (old, new))
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            yield Finding(RULES["schema-unknown"], at)
            return
        found = [*self._parts(old, new, where, at)]
        # A change that no rule knows, as in a server's own keyword, is at least reported.
        yield from found or [Finding(RULES["schema-rewritten"], at)]

    def _parts(self, old: Mapping[str, Any], new: Mapping[str, Any], where: str, at: str) -> Iterator[Finding]:
        if not same(*({key: one[key] for key in one.keys() & TEXTS} for one in (old, new))):
            yield Finding(
                RULES["schema-text-changed"], at, brief(old.get("description")), brief(new.get("description"))
            )
        yield from _default(old, new, at)
        yield from _types(old, new, at)
        yield from _values(old, new, at)
        yield from _bounds(old, new, at)
        yield from self._properties(old, new, where)
        yield from self._items(old, new, where)
        for key in sorted({*KEYWORDS} & (old.keys() | new.keys())):
            one, other = old.get(key), new.get(key)
            if same(one, other):
                continue
            if isinstance(one, list) and isinstance(other, list) and key in _ALTERNATIVES:
                yield from self._alternatives(key, one, other, where, is_opaque=bool(_UNEVALUATED & {*old, *new}))
            elif not same(_meaning_of(key, one), _meaning_of(key, other)):
                what = "added" if one is None else "removed" if other is None else "changed"
                yield Finding(RULES[f"{plain_name(key)}-{what}"], at, brief(one), brief(other))
            else:
                yield Finding(RULES["schema-text-changed"], at)

    def _alternatives(
        self, key: str, old: list[Any], new: list[Any], where: str, *, is_opaque: bool
    ) -> Iterator[Finding]:
        before, after = ({json.dumps(_meaning(one), sort_keys=True): one for one in side} for side in (old, new))
        lost, more = (
            [one for text, one in side.items() if text not in other]
            for side, other in ((before, after), (after, before))
        )
        at = self.name(where)
        if not lost and not more:
            yield Finding(RULES["schema-text-changed"], at)
        elif len(lost) == len(more) == 1 and not is_opaque:
            yield from self.changes(lost[0], more[0], where)
        elif (lost and more) or is_opaque:
            yield Finding(RULES[f"{plain_name(key)}-changed"], at)
        elif key == "anyOf":
            yield Finding(RULES["alternative-added" if more else "alternative-removed"], at)
        else:
            yield Finding(RULES["all-of-changed" if more else "all-of-removed"], at)

    def _properties(self, old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> Iterator[Finding]:
        before, after = _mapping(old, "properties"), _mapping(new, "properties")
        required, was_required = _names(new, "required"), _names(old, "required")
        rest_before, rest_after = old.get("additionalProperties", True), new.get("additionalProperties", True)
        moved = _renamed(
            {name: [_meaning(one), name in was_required] for name, one in before.items() if name not in after},
            {name: [_meaning(one), name in required] for name, one in after.items() if name not in before},
        )

        def at(name: str) -> str:
            return self.name(f"{where}.{name}" if where else name)

        for name, other in moved.items():
            yield Finding(RULES["parameter-renamed"], self.name(where), f"`{name}`", f"`{other}`")
        for name in sorted((before.keys() | after.keys()) - moved.keys() - set(moved.values())):
            inner = f"{where}.{name}" if where else name
            if name in before and name in after:
                yield from self.changes(before[name], after[name], inner)
            elif name in before:
                yield Finding(RULES["parameter-removed"], at(name))
            else:
                is_more = name in required and name not in was_required
                yield Finding(RULES["parameter-required-added" if is_more else "parameter-added"], at(name))
                if not isinstance(rest_before, bool):  # it was one of the arguments of any name
                    yield from self.changes(rest_before, after[name], inner)
        for name in sorted(required - was_required - set(moved.values())):
            if name in before or name not in after:
                yield Finding(RULES["parameter-required"], at(name))
        for name in sorted(was_required - required - moved.keys()):
            if name in after or name not in before:
                yield Finding(RULES["parameter-optional"], at(name))
        if not same(rest_before, rest_after):
            yield from self.changes(rest_before, rest_after, f"{where}.*" if where else "*")

    def _items(self, old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> Iterator[Finding]:
        before, after = old.get("items", True), new.get("items", True)
        if same(before, after):
            return
        if not isinstance(before, list) and not isinstance(after, list):
            yield from self.changes(before, after, f"{where}[]")
        elif not same(_meaning_of("items", before), _meaning_of("items", after)):
            yield Finding(RULES["items-changed"], self.name(where))


def _renamed(gone: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, str]:
    """Return old name -> new name where exactly one removed and one added property mean the same."""
    before, after = ({name: json.dumps(value, sort_keys=True) for name, value in side.items()} for side in (gone, more))
    pairs = {}
    for name, text in sorted(before.items()):
        twins = [other for other, meaning in after.items() if meaning == text]
        if len(twins) == 1 and list(before.values()).count(text) == 1:
            pairs[name] = twins[0]
    return pairs


def _default(old: Mapping[str, Any], new: Mapping[str, Any], at: str) -> Iterator[Finding]:
    if ("default" in old) != ("default" in new) or not same(old.get("default"), new.get("default")):
        name = "added" if "default" not in old else "removed" if "default" not in new else "changed"
        before, after = (f"`{brief(one.get('default'))}`" for one in (old, new))
        yield Finding(RULES[f"default-{name}"], at, before, after)


def _types(old: Mapping[str, Any], new: Mapping[str, Any], at: str) -> Iterator[Finding]:
    before, after = _type_set(old), _type_set(new)
    if before == after:
        return
    lost = {kind for kind in before - after if not (kind == "integer" and "number" in after)}
    if before ^ after == {"null"}:
        name = "nullable-removed" if lost else "nullable-added"
    else:
        name = "type-changed" if lost else "type-widened"
    yield Finding(RULES[name], at, _shown(old.get("type")), _shown(new.get("type")))


def _type_set(schema: Mapping[str, Any]) -> frozenset[str]:
    written = schema.get("type")
    if isinstance(written, str):
        return frozenset({written})
    return frozenset(map(str, written)) if isinstance(written, list) else _ALL_TYPES


def _shown(written: Any) -> str:
    if written is None:
        return "any"
    return "/".join(map(str, written)) if isinstance(written, list) else str(written)


def _values(old: Mapping[str, Any], new: Mapping[str, Any], at: str) -> Iterator[Finding]:
    before, after = _value_list(old), _value_list(new)
    if before == after:
        return
    if after is None:
        yield Finding(RULES["enum-removed"], at)
    elif before is None:
        yield Finding(RULES["enum-added"], at, "", name_list(value for _, value in after))
    else:
        # Compared with their types: 1 and true are equal in Python and not in JSON.
        lost = [value for value in before if value not in after]
        added = [value for value in after if value not in before]
        if lost:
            yield Finding(RULES["enum-narrowed"], at, name_list(value for _, value in lost))
        if added:
            yield Finding(RULES["enum-widened"], at, "", name_list(value for _, value in added))


def _value_list(schema: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list):
        return None
    if "const" in schema and isinstance(schema.get("enum"), list) and schema["const"] not in schema["enum"]:
        values = []
    return sorted((type(value).__name__, brief(value)) for value in values)


def _bounds(old: Mapping[str, Any], new: Mapping[str, Any], at: str) -> Iterator[Finding]:
    for key in (*LOWER_BOUNDS, *UPPER_BOUNDS):
        before, after = old.get(key), new.get(key)
        if before == after and type(before) is type(after):
            continue
        if after is None:
            is_tighter = False
        elif _is_number(before) and _is_number(after):
            is_tighter = after > before if key in LOWER_BOUNDS else after < before
        else:
            is_tighter = True
        name = f"{plain_name(key)}-{'tightened' if is_tighter else 'loosened'}"
        yield Finding(RULES[name], at, *("absent" if one is None else brief(one) for one in (before, after)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mapping(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = schema.get(key)
    return value if isinstance(value, Mapping) else {}


def _names(schema: Mapping[str, Any], key: str) -> frozenset[str]:
    value = schema.get(key)
    return frozenset(name for name in value if isinstance(name, str)) if isinstance(value, list) else frozenset()


def _meaning(schema: Any) -> Any:
    """Return a schema without keywords that only describe, at any depth."""
    if not isinstance(schema, Mapping):
        return schema
    return {key: _meaning_of(key, value) for key, value in schema.items() if key not in TEXTS and key != "$schema"}


def _meaning_of(key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        if key in NAMED:
            return {name: _meaning(item) for name, item in value.items()}
        return _meaning(value) if key in ONE else dict(value)
    if isinstance(value, list) and key in MANY:
        return [_meaning(item) for item in value]
    if isinstance(value, list) and key in {"required", "type"}:
        return sorted(map(repr, value))
    return value
