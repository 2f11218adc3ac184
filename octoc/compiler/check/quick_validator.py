"""A JSON Schema validator that looks at plain values itself, since `jsonschema` is slow for each text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_TYPES: Mapping[type, frozenset[str]] = {
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
    type(None): frozenset({"null"}),
}
_Check = Callable[[Any, Any, Any], bool]
_Prepared = tuple[dict[str, Any], frozenset[type], tuple[tuple[_Check, Any], ...]]
_PREPARED: dict[int, _Prepared] = {}
"""By the schema's `id`, which stays its own because the schema itself is kept, too."""
_NOTES = frozenset(
    {
        *("type", "description", "title", "default", "examples", "deprecated", "$comment", "$schema", "$id", "$defs"),
        *("x-octoc-ignored", "x-octoc-rule"),
    }
)


@cache
def quick_validator() -> type[Validator]:
    """Return a class that finds the errors of `Draft202012Validator`, in the same order."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    whole = {name: Draft202012Validator.VALIDATORS[name] for name in ("properties", "items")}

    def properties(validator: Any, schemas: Mapping[str, Any], instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(instance, dict):
            unsure = {key: each for key, each in schemas.items() if key in instance and not is_met(each, instance[key])}
            if unsure:
                yield from whole["properties"](validator, unsure, instance, schema)

    def items(validator: Any, each: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not (isinstance(instance, list) and all(is_met(each, item) for item in instance)):
            yield from whole["items"](validator, each, instance, schema)

    made: type[Validator] = extend(Draft202012Validator, {"properties": properties, "items": items})  # type: ignore[no-untyped-call]
    return made


def is_met(schema: Any, value: Any) -> bool:
    """Tell whether a value surely meets a schema; one with a keyword that is not checked here is unsure."""
    if not isinstance(schema, dict):
        return schema is True
    types, checks = (_PREPARED.get(id(schema)) or _prepared(schema))[1:]
    if type(value) not in types:
        return False
    for check, says in checks:  # noqa: SIM110  # a generator takes longer than most checks
        if not check(says, value, schema):
            return False
    return True


def _prepared(schema: dict[str, Any]) -> _Prepared:
    """Return and keep the types and checks of a schema, of which each file of a kind needs the same."""
    wanted = schema.get("type")
    wanted = frozenset((wanted,) if isinstance(wanted, str) else wanted or ())
    types = frozenset(one for one, names in _TYPES.items() if not wanted or not names.isdisjoint(wanted))
    names = [name for name in schema if name not in _NOTES]
    checks = tuple((_CHECKS.get(name, _unsure), schema[name]) for name in names)
    _PREPARED[id(schema)] = made = (schema, types, checks)
    return made


def _unsure(*_: Any) -> bool:
    return False


def _members_meet(schemas: Mapping[str, Any], value: Any, _: Any) -> bool:
    if not isinstance(value, dict):
        return False
    for key, item in value.items():
        each = schemas.get(key)
        if each is not None and not is_met(each, item):
            return False
    return True


def _others_meet(others: Any, value: Any, schema: Mapping[str, Any]) -> bool:
    known = schema.get("properties", {})
    return isinstance(value, dict) and all(
        others is True or (others is not False and is_met(others, each))
        for key, each in value.items()
        if key not in known
    )


_CHECKS: Mapping[str, _Check] = {
    "enum": lambda words, value, _: isinstance(value, str) and value in words,
    "pattern": lambda pattern, value, _: isinstance(value, str) and re.search(pattern, value) is not None,
    "minimum": lambda least, value, _: isinstance(value, int | float) and value >= least,
    "maximum": lambda most, value, _: isinstance(value, int | float) and value <= most,
    "minItems": lambda count, value, _: isinstance(value, list) and len(value) >= count,
    "items": lambda each, value, _: isinstance(value, list) and all(is_met(each, item) for item in value),
    "required": lambda keys, value, _: isinstance(value, dict) and all(key in value for key in keys),
    "properties": _members_meet,
    "additionalProperties": _others_meet,
    "propertyNames": lambda each, value, _: isinstance(value, dict) and all(is_met(each, key) for key in value),
    "exclusiveMinimum": lambda least, value, _: isinstance(value, int | float) and value > least,
    "anyOf": lambda schemas, value, _: any(is_met(each, value) for each in schemas),
    "allOf": lambda schemas, value, _: all(is_met(each, value) for each in schemas),
}
"""Keyword -> whether a value of the schema's type surely meets it, `(what the schema says, value, schema)`."""
