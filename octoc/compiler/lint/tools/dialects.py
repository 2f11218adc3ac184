"""Check a schema against the metaschema of its dialect, after a fast test that accepts most sound schemas.

jsonschema takes milliseconds for a schema, and testing the shape of each keyword takes microseconds. The fast test
never accepts an unsound schema; jsonschema decides about each schema that the test does not accept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from octoc.diagnostics.model import KeyPath
from octoc.formats.walk import MANY, NAMED, ONE, pointer, subschemas

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

DEFAULT = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of a schema without `$schema`. Source: the Model Context Protocol, 2025-11-25, JSON Schema usage."""
DIALECTS: Mapping[str, str] = {
    "http://json-schema.org/draft-04/schema": "Draft4Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    DEFAULT: "Draft202012Validator",
}
"""Dialect -> the name of jsonschema's class for it."""
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_MOST = 5
_SHOWN = 40


def dialect_of(schema: Mapping[str, Any]) -> str | None:
    """Return the dialect that a schema names, or the default; None for a dialect outside `DIALECTS`."""
    named = schema.get("$schema", DEFAULT)
    if not isinstance(named, str):
        return DEFAULT  # checking against the metaschema reports the mistake
    plain = named.removesuffix("#")
    for dialect in DIALECTS:
        # Many schemas name a draft by `https` whose identifier has `http`.
        if plain.replace("https://", "http://", 1) == dialect.replace("https://", "http://", 1):
            return dialect
    return None


def mistakes(schema: Mapping[str, Any], dialect: str) -> Iterator[tuple[KeyPath, str]]:
    """Yield path and one line for each of the first five mistakes of a schema against its dialect's metaschema."""
    if looks_sound(schema, dialect):
        return
    import jsonschema
    from jsonschema.exceptions import best_match

    validator = getattr(jsonschema, DIALECTS[dialect])
    for count, error in enumerate(validator(validator.META_SCHEMA).iter_errors(schema)):
        if count == _MOST:
            return
        best = best_match([error]) or error
        if best.validator in {"anyOf", "oneOf"} or len(best.absolute_path) < len(error.absolute_path):
            best = error
        path = tuple(best.absolute_path)
        yield path, f"`{pointer(path)}` is {_short(best.instance)}, expected {_expected(best, path)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return f"`{text}`" if len(text) <= _SHOWN else f"`{text[:_SHOWN]}…`"


def _expected(error: ValidationError, path: KeyPath) -> str:
    keyword, wanted = error.validator, error.validator_value
    if path and path[-1] == "type" and keyword in {"anyOf", "enum", "type"}:
        return f"one of {', '.join(sorted(_TYPES))}, or a list of them"
    if keyword == "type":
        names = wanted if isinstance(wanted, list) else [wanted]
        return "a schema" if set(names) == {"object", "boolean"} else " or ".join(map(_article, names))
    if keyword in {"enum", "const"}:
        return f"one of {wanted}"
    match keyword:
        case "minItems":
            return "at least one element"
        case "uniqueItems":
            return "each element once"
        case "minimum":
            return f"at least {wanted}"
        case "exclusiveMinimum":
            return f"more than {wanted}"
        case "pattern":
            return f"text like `{wanted}`"
    return "what its dialect describes"


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aio' else 'a'} {name}"


def looks_sound(schema: Mapping[str, Any], dialect: str) -> bool:
    """Tell whether a schema certainly meets its dialect; False means only that it may not."""
    if dialect.endswith("draft-04/schema"):
        return False  # it differs in many keywords and is rare
    is_old = dialect.startswith("http://")
    for _, subschema in subschemas(schema):
        for key, value in subschema.items():
            test = _TESTS.get(key)
            if test is not None and not test(value):
                return False
            if key in _SCHEMA_KEYS and not _holds_schemas(key, value, is_old=is_old):
                return False
    return True


def _holds_schemas(key: str, value: Any, *, is_old: bool) -> bool:
    if key in NAMED:
        if not isinstance(value, dict):
            return False
        return all(_is_schema(item) or (key == "dependencies" and _is_names(item)) for item in value.values())
    if isinstance(value, list):
        is_list = key in MANY and (key != "items" or is_old)
        return is_list and bool(value) and all(map(_is_schema, value))
    return key in ONE and _is_schema(value)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_text, value)) and len(set(value)) == len(value) and _TYPES.issuperset(value)
    return isinstance(value, str) and value in _TYPES


def _is_enum(value: Any) -> bool:
    return bool(value) and _is_names(value)


_TEXTS = ("$comment", "$ref", "$dynamicRef", "contentEncoding", "contentMediaType", "description", "format", "title")
_COUNTS = ("maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength")
_SCHEMA_KEYS = ONE | MANY | NAMED
_TESTS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys((*_TEXTS, "$schema", "pattern"), _is_text),
    **dict.fromkeys((*_COUNTS, "minProperties"), _is_count),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"), _is_number),
    **dict.fromkeys(("deprecated", "readOnly", "uniqueItems", "writeOnly"), _is_bool),
    # Rare in tools and different in each dialect, so that jsonschema decides.
    **dict.fromkeys(
        ("$anchor", "$dynamicAnchor", "$id", "$recursiveAnchor", "$recursiveRef", "$vocabulary", "dependentRequired"),
        lambda _: False,
    ),
    "enum": _is_enum,
    "examples": lambda value: isinstance(value, list),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "required": _is_names,
    "type": _is_type,
}
