"""Schemas for Gemini's `FunctionDeclaration.parameters`, a part of OpenAPI's schema object without references.

Constructs without an equivalent are described in the description of their place; an object of unknown properties, and
what contains itself, is asked for as JSON text. Fields: Gemini API reference, object `Schema`. That `anyOf` stands
alone is what Vertex AI answers with 400: "When using any_of, it must be the only field set".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from octoc.formats.flatten import COMBINERS, brief, distinct, flattened
from octoc.formats.providers import GEMINI_FORMATS
from octoc.formats.reading import Alternative, Reading
from octoc.formats.references import MISSING, Resources

MAX_DEPTH = 16
MAX_NODES = 2000
"""Above these a value is asked for as JSON text: references may unfold to any size."""
_TEXT_SHOWN = 300
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_OF_TYPE: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_TOLD: Mapping[str, str] = {
    "exclusiveMinimum": "More than {}.",
    "exclusiveMaximum": "Less than {}.",
    "multipleOf": "A multiple of {}.",
    "not": "Not {}.",
    "propertyNames": "Names of properties: {}.",
    "patternProperties": "Further properties by pattern: {}.",
    "contains": "Contains {}.",
    "dependentRequired": "Required together: {}.",
    "if": "Under a condition: {}.",
}
Written = tuple[dict[str, Any], Reading | None]


def for_gemini(schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, Reading | None, list[str]]:
    """Return the parameters, None for none; how what is given is read; and what they no longer say."""
    resources = Resources(schema)
    flat, notes = flattened(schema, COMBINERS, resources) if _combines(schema) else (dict(schema), [])
    writer = _Writer(resources)
    properties = flat.get("properties")
    named = isinstance(properties, dict) and any(value is not False for value in properties.values())
    if not named:
        extra = flat.get("additionalProperties")
        if not flat.get("patternProperties") and (not isinstance(extra, dict) or not extra):
            return None, None, notes
        wrapped = "arguments"
        told = {
            "type": "string",
            "description": f"All arguments, as the text of a JSON object: {brief(flat, _TEXT_SHOWN)}",
        }
        return {"type": "object", "properties": {wrapped: told}, "required": [wrapped]}, Reading(wrapped=wrapped), notes
    shown, reading = writer.object({**flat, "type": "object"}, (id(schema),), 0)
    text = shown.pop("description", None)
    return shown, reading, [*notes, text] if text and text != flat.get("description") else notes


def _combines(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") != "object" or "$ref" in schema or any(key in schema for key in COMBINERS)


class _Writer:
    """Writes the schemas of one tool, and counts how many it has written."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._left = MAX_NODES

    def value(self, schema: Any, seen: tuple[int, ...], depth: int) -> Written:
        """Return one schema in Gemini's form. `seen`: the schemas around it."""
        self._left -= 1
        if not isinstance(schema, dict):
            return _anything({})
        if depth > MAX_DEPTH or self._left < 0 or id(schema) in seen:
            return _anything(self._target(schema))
        whole, seen = self._collapsed(schema, seen)
        if whole is None:
            return _anything(self._target(schema))
        found = [key for key in ("anyOf", "oneOf") if isinstance(whole.get(key), list) and whole[key]]
        if found and "properties" in whole:
            flat, notes = flattened(whole, COMBINERS, self._resources)
            flat["description"] = _described(flat, notes)
            return self.object(flat, seen, depth)
        if found:
            return self._union(whole, found[0], seen, depth)
        types = _types(whole)
        if not types:
            return _anything(whole)
        bare = [kind for kind in types if kind != "null"]
        nullable = "null" in types or whole.get("nullable") is True
        if not bare:
            return _nullable(({"type": "string", "description": _described(whole, ["Always null."])}, None))
        made = [self._typed(whole, kind, seen, depth) for kind in bare]
        one = made[0] if len(made) == 1 else _joined(made, [_alternative(whole, kind) for kind in bare], whole)
        return _nullable(one) if nullable else one

    def object(self, schema: Mapping[str, Any], seen: tuple[int, ...], depth: int) -> Written:
        """Return an object's schema: as text when it names no properties."""
        named = schema.get("properties")
        named = {name: one for name, one in named.items() if one is not False} if isinstance(named, dict) else {}
        if not named:
            return _text(schema, "object")
        made = {name: self.value(one, seen, depth + 1) for name, one in named.items()}
        shown = _base(
            schema, "object", _told(schema, "dependentRequired", "propertyNames", "patternProperties", "not", "if")
        )
        shown["properties"] = {name: one[0] for name, one in made.items()}
        required = schema.get("required")
        wanted = [name for name in required if name in made] if isinstance(required, list) else []
        if wanted:
            shown["required"] = list(dict.fromkeys(wanted))
        readings = {name: one[1] for name, one in made.items() if one[1]}
        return shown, Reading(properties=readings) if readings else None

    def _typed(self, schema: Mapping[str, Any], kind: str, seen: tuple[int, ...], depth: int) -> Written:
        if kind == "object":
            return self.object(schema, seen, depth)
        if kind == "array":
            return self._array(schema, seen, depth)
        notes = _told(schema, "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "not")
        values = _values(schema)
        if values is not None and kind != "string":
            values = [value for value in values if _kind(value, kind) == kind]
            notes.append(f"One of {', '.join(map(brief, values))}.")
        shown = _base(schema, kind, notes)
        if kind == "string" and isinstance(schema.get("pattern"), str):
            shown["pattern"] = schema["pattern"]
        if kind == "string" and values is not None:
            texts = list(dict.fromkeys(value for value in values if isinstance(value, str)))
            if texts and "" not in texts:
                shown["enum"] = texts
            else:  # an empty text is refused, and with it the request
                shown["description"] = _described(shown, [f"One of {', '.join(map(brief, texts))}."])
        return shown, None

    def _array(self, schema: Mapping[str, Any], seen: tuple[int, ...], depth: int) -> Written:
        items = schema.get("items")
        first = items if isinstance(items, list) else schema.get("prefixItems")
        notes = _told(schema, "contains")
        if schema.get("uniqueItems") is True:
            notes.append("No item twice.")
        if isinstance(first, list) and first:
            rest = schema.get("additionalItems") if isinstance(items, list) else items
            made = [self.value(one, seen, depth + 1) for one in (*first, *([rest] if isinstance(rest, dict) else []))]
            shown = _base(schema, "array", [*notes, f"Items in this order: {brief(first)}."])
            shown["items"] = _joined(made, [], {})[0]
            readings = [one[1] for one in made]
            last = readings.pop() if len(readings) > len(first) else None
            return shown, Reading(prefix=tuple(readings), items=last) if any(readings) or last else None
        inner, reading = self.value(items if isinstance(items, dict) else {}, seen, depth + 1)
        shown = _base(schema, "array", notes)
        shown["items"] = inner
        return shown, Reading(items=reading) if reading else None

    def _union(self, whole: Mapping[str, Any], key: str, seen: tuple[int, ...], depth: int) -> Written:
        around = {
            name: value for name, value in whole.items() if name not in {*COMBINERS, "description", "title", "default"}
        }
        nullable = whole.get("nullable") is True
        made: list[Written] = []
        fits: list[Alternative | None] = []
        for part in whole[key]:
            if part is False:
                continue
            both = {"allOf": [part, around]} if around else part
            merged = self._collapsed(both, seen)[0] if isinstance(both, dict) else None
            if merged is not None and _types(merged) == ["null"]:
                nullable = True
                continue
            if merged is None or not any(isinstance(merged.get(inner), list) for inner in COMBINERS):
                fits += [_alternative(merged or {}, kind) for kind in _types(merged or {})[:1]] or [None]
            else:
                fits.append(None)
            made.append(self.value(both, seen, depth + 1))
        if not made:
            return _nullable(_anything(whole)) if nullable else _anything(whole)
        joined = _joined(made, fits, whole)
        return _nullable(joined) if nullable else joined

    def _target(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a schema that is left out refers to, for its type; itself when it refers to nothing."""
        current: Any = schema
        for _ in range(MAX_DEPTH):
            if not isinstance(current, dict) or not isinstance(current.get("$ref"), str):
                break
            current = self._resources.target((), current["$ref"])
        return current if isinstance(current, dict) else schema

    def _collapsed(
        self, schema: Mapping[str, Any], seen: tuple[int, ...]
    ) -> tuple[dict[str, Any] | None, tuple[int, ...]]:
        """Return a schema with what it refers to and all of `allOf` in it; None when it contains itself, or too much.

        Of two that say the same keyword the first counts: what both say holds, so either is no less than is allowed.
        """
        if id(schema) in seen:
            return None, seen
        seen = (*seen, id(schema))
        whole = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = list(schema["allOf"]) if isinstance(schema.get("allOf"), list) else []
        if isinstance(schema.get("$ref"), str):
            target = self._resources.target((), schema["$ref"])
            parts.insert(0, {} if target is MISSING else target)
        if len(parts) > MAX_NODES:
            return None, seen
        for part in parts:
            if not isinstance(part, dict):
                continue
            more, inner = self._collapsed(part, seen)
            if more is None:
                return None, seen
            seen = tuple(dict.fromkeys([*seen, *inner]))
            for key, value in more.items():
                old = whole.get(key)
                if key == "properties" and isinstance(old, dict) and isinstance(value, dict):
                    whole[key] = {**value, **old}
                elif key == "required" and isinstance(old, list) and isinstance(value, list):
                    whole[key] = list(dict.fromkeys([*old, *value]))
                else:
                    whole.setdefault(key, value)
        return whole, seen


def _types(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a schema takes, as it says or as its keywords show; empty for any."""
    kind = schema.get("type")
    values = _values(schema)
    if isinstance(kind, str | list):
        kinds = [kind] if isinstance(kind, str) else [one for one in kind if isinstance(one, str)]
        kinds = [one for one in dict.fromkeys(kinds) if one in _TYPES]
        if values is not None:
            used = {_kind(value, one) for value in values for one in kinds}
            kinds = [one for one in kinds if one in used] or kinds
        return [one for one in kinds if not (one == "integer" and "number" in kinds)]
    if values:
        return list(dict.fromkeys(_kind(value, "number") for value in values))
    if "properties" in schema or "additionalProperties" in schema or "required" in schema:
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else []


def _values(schema: Mapping[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) else None


def _kind(value: Any, number: str) -> str:
    """Return the type of a value; `number` is what a number counts as."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if number == "integer" and float(value).is_integer() else "number"
    kinds: list[tuple[type, str]] = [(str, "string"), (list, "array"), (dict, "object")]
    return next((kind for of, kind in kinds if isinstance(value, of)), "null")


def _base(schema: Mapping[str, Any], kind: str, notes: Sequence[str]) -> dict[str, Any]:
    """Return what every type has: type, texts, default, format and the bounds that it may have."""
    shown: dict[str, Any] = {"type": kind}
    told = list(notes)
    form = schema.get("format")
    if isinstance(form, str):
        if form in GEMINI_FORMATS.get(kind, ()):
            shown["format"] = form
        elif kind == "string":
            told.append(f"Format: {form}.")
    for key in _OF_TYPE.get(kind, ()):
        value = schema.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            exclusive = schema.get("exclusive" + key[0].upper() + key[1:])
            shown[key] = int(value) if key[3].isupper() else value
            if exclusive is True:  # as draft 4 writes it
                told.append(f"Not {brief(value)} itself.")
    if isinstance(schema.get("title"), str):
        shown["title"] = schema["title"]
    if "default" in schema and schema["default"] is not None:
        shown["default"] = schema["default"]
    text = _described(schema, told)
    if text:
        shown["description"] = text
    return shown


def _told(schema: Mapping[str, Any], *keys: str) -> list[str]:
    return [
        _TOLD[key].format(brief(schema[key]))
        for key in keys
        if key in schema and not isinstance(schema[key], bool) and schema[key] != {}
    ]


def _described(schema: Mapping[str, Any], notes: Sequence[str]) -> str:
    text = schema.get("description")
    said = [text] if isinstance(text, str) and text else []
    return " ".join([*said, *notes])


def _text(schema: Mapping[str, Any], kind: str) -> Written:
    """Return a place for the JSON text of an object or an array."""
    texts = ("description", "title", "type", "default", "$schema", "$defs", "definitions")
    small = {key: value for key, value in schema.items() if key not in texts and value not in (True, {}, [])}
    more = f": {brief(small, _TEXT_SHOWN)}" if small else ""
    return {
        "type": "string",
        "description": _described(schema, [f"The text of a JSON {kind}{more}."]),
    }, Reading(text=True)


def _anything(schema: Mapping[str, Any]) -> Written:
    kinds = set(_types(schema))
    if kinds and kinds <= {"object", "array"}:
        return _text({key: schema[key] for key in ("description",) if key in schema}, " or ".join(sorted(kinds)))
    text = _described(schema, ["An object or an array is given as JSON text."])
    shown = {
        "anyOf": [{"type": "string", "nullable": True, "description": text}, {"type": "number"}, {"type": "boolean"}]
    }
    return shown, Reading(text=True)


def _joined(made: Sequence[Written], fits: Sequence[Alternative | None], around: Mapping[str, Any]) -> Written:
    """Return a union. Texts that are JSON and texts that are not share one place, which `Reading.text` reads."""
    is_text = any(reading is not None and reading.text for _, reading in made)
    parts = [part for one, _ in made for part in one.get("anyOf", [one])]
    shown: list[dict[str, Any]] = distinct(part for part in parts if not (is_text and part == {"type": "string"}))
    told = {key: around[key] for key in ("description",) if key in around}
    notes = [f"Default: {brief(around['default'])}."] if around.get("default") is not None else []
    text = _described(told, notes)
    if text and shown and not str(shown[0].get("description", "")).startswith(text):
        shown[0] = {**shown[0], "description": " ".join(filter(None, [text, shown[0].get("description")]))}
    union = shown[0] if len(shown) == 1 else {"anyOf": shown}
    alternatives = tuple(
        _with(fit, reading)
        for fit, (_, reading) in zip(fits, made, strict=False)
        if fit is not None and fit.kind in ("object", "array")
    )
    inner = [reading for _, reading in made if reading]
    if not inner:
        return union, None
    if not any(one.reading for one in alternatives):
        alternatives = ()
    return union, Reading(text=is_text, alternatives=alternatives)


def _with(fit: Alternative, reading: Reading | None) -> Alternative:
    # A text inside a union is read where the union is; what is left are objects and arrays with something inside.
    inner = None if reading is None or reading.text else reading
    return Alternative(kind=fit.kind, required=fit.required, known=fit.known, fixed=fit.fixed, reading=inner)


def _alternative(schema: Mapping[str, Any], kind: str) -> Alternative:
    properties = schema.get("properties")
    if kind != "object" or not isinstance(properties, dict):
        return Alternative(kind=kind)
    required = schema.get("required")
    fixed = {}
    for name, one in properties.items():
        values = _values(one) if isinstance(one, dict) else None
        if values and all(isinstance(value, str) for value in values):
            fixed[name] = frozenset(values)
    return Alternative(
        kind="object",
        required=frozenset(required) if isinstance(required, list) else frozenset(),
        known=frozenset(properties) if schema.get("additionalProperties") is False else None,
        fixed=fixed,
    )


def _nullable(one: Written) -> Written:
    shown, reading = one
    if "anyOf" in shown:
        first, *rest = shown["anyOf"]
        return {"anyOf": [{**first, "nullable": True}, *rest]}, reading
    return {**shown, "nullable": True}, reading
