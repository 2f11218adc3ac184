"""A JSON Schema validator that looks at plain values itself, since `jsonschema` is slow for each text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
}
_NOTES = frozenset({"type", "description", "title", "default", "examples", "deprecated", "$comment", "x-octoc-ignored"})


@cache
def quick_validator() -> type[Validator]:
    """Return a class that finds the errors of `Draft202012Validator`, in the same order."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    whole = {name: Draft202012Validator.VALIDATORS[name] for name in ("properties", "items")}

    def properties(validator: Any, schemas: Mapping[str, Any], instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(instance, dict):
            unsure = {
                key: each for key, each in schemas.items() if key in instance and not _is_met(each, instance[key])
            }
            if unsure:
                yield from whole["properties"](validator, unsure, instance, schema)

    def items(validator: Any, each: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not (isinstance(instance, list) and all(_is_met(each, item) for item in instance)):
            yield from whole["items"](validator, each, instance, schema)

    made: type[Validator] = extend(Draft202012Validator, {"properties": properties, "items": items})  # type: ignore[no-untyped-call]
    return made


def _is_met(schema: Any, value: Any) -> bool:
    """Tell whether a value surely meets a schema that has a type and notes alone, or items of such a schema."""
    if not isinstance(schema, dict):
        return False
    wanted, names = schema.get("type"), _TYPES.get(type(value))
    if names is None or wanted is None or names.isdisjoint((wanted,) if isinstance(wanted, str) else wanted):
        return False
    more = schema.keys() - _NOTES
    return not more or (
        more == {"items"} and isinstance(value, list) and all(_is_met(schema["items"], v) for v in value)
    )
