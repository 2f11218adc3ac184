"""Problems with arguments in a few words for a model: the place and what was expected, never the value itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from octoc.diagnostics.suggest import near_names
from octoc.json_pointer import pointer_to
from octoc.json_types import json_type
from octoc.lists import any_of

Error = Any
"""jsonschema's ValidationError. Its stubs declare every field as possibly unset, but a validator sets all of them."""
_LONGEST_NAME = 64
_LONGEST_PATH = 160
_LONGEST_VALUE = 40
_MOST_NAMES = 8


@attrs.frozen(kw_only=True)
class Problem:
    """One problem. `path` is a JSON pointer, empty for the arguments as a whole; `what` is one line."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}" if self.path else self.what


def problems_of(errors: Iterable[Error]) -> tuple[Problem, ...]:
    """Return the problems that a validator's errors describe, in its order, without repetitions."""
    return tuple(dict.fromkeys(problem for error in errors for problem in _problems(error)))


def _problems(error: Error) -> list[Problem]:
    words = _WORDS.get(str(error.validator), _other)
    what = words(error)
    if what is None:
        return [problem for inner in _nearest_branch(error) for problem in _problems(inner)]
    if "propertyNames" in error.absolute_schema_path:
        what = f"a property's name here: {what}"
    return [Problem(path=_pointer(error.absolute_path), what=what)]


def quoted(name: Any) -> str:
    """Return a name in backticks, on one line; a long name is shortened."""
    text = json.dumps(str(name), ensure_ascii=False)[1:-1]
    return f"`{text[:_LONGEST_NAME]}…`" if len(text) > _LONGEST_NAME else f"`{text}`"


def _pointer(path: Iterable[Any]) -> str:
    text = pointer_to(quoted(step)[1:-1] for step in path)
    return text if len(text) <= _LONGEST_PATH else f"…{text[-_LONGEST_PATH:]}"


def _names(names: Iterable[Any]) -> str:
    every = [quoted(name) for name in names]
    more = f", {len(every) - _MOST_NAMES} more" if len(every) > _MOST_NAMES else ""
    return ", ".join(every[:_MOST_NAMES]) + more


def _meant(name: Any, names: Iterable[Any]) -> str:
    near = near_names(str(name), (one for one in names if isinstance(one, str)), 1)
    return f"; did you mean {quoted(near[0])}?" if near else ""


def _declared(error: Error) -> Mapping[str, Any]:
    schema = error.schema
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _required(error: Error) -> str:
    declared, instance = _declared(error), error.instance
    missing = [name for name in error.validator_value if name not in instance]
    noun = "property" if len(missing) == 1 else "properties"
    words = f"missing required {noun} {_names(missing)}"
    if len(missing) > 1:
        return words
    kind = declared.get(missing[0], {})
    types = kind.get("type") if isinstance(kind, Mapping) else None
    if types:
        words += f" ({any_of(_types(types))})"
    strangers = [name for name in instance if name not in declared]
    near = near_names(missing[0], strangers, 1)
    return f"{words}; {quoted(near[0])} is not its name" if near else words


def _unknown(error: Error) -> str:
    declared = _declared(error)
    left = [name for name in declared if name not in error.instance]
    name = error.message
    if not declared:
        return f"unknown property {quoted(name)}: none is expected"
    return f"unknown property {quoted(name)}{_meant(name, left) or f': expected {_names(declared)}'}"


def _unevaluated(error: Error) -> str:
    declared = _declared(error)
    strangers = [name for name in error.instance if name not in declared]
    return f"unknown property among {_names(strangers)}"


def _types(types: Any) -> list[str]:
    return [types] if isinstance(types, str) else [str(one) for one in types]


def _wrong_type(error: Error) -> str:
    return _expected_type(_types(error.validator_value), error.instance)


def _expected_type(types: Sequence[str], instance: Any) -> str:
    words = f"expected {any_of(types)}, got {json_type(instance)}"
    if not isinstance(instance, str):
        return words
    # The most common mistake of models: the right value, written as text.
    try:
        inner = json.loads(instance)
    except (ValueError, RecursionError):
        return words
    kinds = {json_type(inner), "number" if isinstance(inner, int) and not isinstance(inner, bool) else ""}
    return f"{words}: write it as JSON, without quotes around it" if kinds & set(types) else words


def _enum(error: Error) -> str:
    allowed = [_value(one) for one in error.validator_value]
    more = f", or {len(allowed) - _MOST_NAMES} more" if len(allowed) > _MOST_NAMES else ""
    words = (
        f"expected one of {', '.join(allowed[:_MOST_NAMES])}{more}" if len(allowed) != 1 else f"expected {allowed[0]}"
    )
    return words + (_meant(error.instance, error.validator_value) if isinstance(error.instance, str) else "")


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"{text[:_LONGEST_VALUE]}…" if len(text) > _LONGEST_VALUE else text


def _bound(word: str, exclusive: str | None = None, exclusive_word: str = "") -> Callable[[Error], str]:
    def words(error: Error) -> str:
        strict = exclusive is not None and isinstance(error.schema, Mapping) and error.schema.get(exclusive) is True
        return f"expected {exclusive_word if strict else word} {_value(error.validator_value)}"

    return words


def _count(word: str, unit: str) -> Callable[[Error], str]:
    def words(error: Error) -> str:
        return f"expected {word} {_value(error.validator_value)} {unit}, got {len(error.instance)}"

    return words


def _dependent(error: Error) -> str:
    wanted = [
        name
        for given, names in error.validator_value.items()
        if given in error.instance and isinstance(names, list)
        for name in names
        if name not in error.instance
    ]
    return f"missing {_names(dict.fromkeys(wanted))}, needed with what is given" if wanted else _other(error)


def _nothing_fits(error: Error) -> str | None:
    """Name the expected types if all branches differ only in them; None leaves the words to the nearest branch."""
    inner = error.context or ()
    if not inner:
        return (
            "fits more than one of the forms that exclude each other" if error.validator == "oneOf" else _other(error)
        )
    here = [one for one in inner if not one.relative_path and one.validator == "type"]
    if len(here) == len(inner):
        return _expected_type(
            list(dict.fromkeys(t for one in here for t in _types(one.validator_value))), error.instance
        )
    return None


def _nearest_branch(error: Error) -> list[Error]:
    """Return the errors of the branch nearest to the value: one of its type, and with the deepest error."""
    branches: dict[Any, list[Error]] = {}
    for one in error.context or ():
        branches.setdefault(one.schema_path[0], []).append(one)

    def nearness(branch: list[Error]) -> tuple[bool, int, int]:
        wrong_type = any(one.validator == "type" and not one.relative_path for one in branch)
        return (not wrong_type, max(len(one.relative_path) for one in branch), -len(branch))

    return max(branches.values(), key=nearness)


def _other(error: Error) -> str:
    if error.validator is None:  # the schema `false`, whose errors have no path of their own
        return "has a part that its schema does not allow"
    return f"does not fit {quoted(error.validator)} of its schema"


_WORDS: dict[str, Callable[[Error], str | None]] = {
    "required": _required,
    "additionalProperties": _unknown,
    "unevaluatedProperties": _unevaluated,
    "type": _wrong_type,
    "enum": _enum,
    "const": lambda error: f"expected {_value(error.validator_value)}",
    "minimum": _bound("at least", "exclusiveMinimum", "more than"),
    "maximum": _bound("at most", "exclusiveMaximum", "less than"),
    "exclusiveMinimum": _bound("more than"),
    "exclusiveMaximum": _bound("less than"),
    "multipleOf": _bound("a multiple of"),
    "minLength": _count("at least", "characters"),
    "maxLength": _count("at most", "characters"),
    "minItems": _count("at least", "elements"),
    "maxItems": _count("at most", "elements"),
    "minProperties": _count("at least", "properties"),
    "maxProperties": _count("at most", "properties"),
    "pattern": lambda error: f"expected text that matches {quoted(error.validator_value)}",
    "uniqueItems": lambda _: "expected no element twice",
    "contains": lambda _: "expected another element: none is what `contains` asks for",
    "minContains": lambda _: "expected more elements that are what `contains` asks for",
    "dependentRequired": _dependent,
    "dependencies": _dependent,
    "anyOf": _nothing_fits,
    "oneOf": _nothing_fits,
    "not": lambda _: "is what its schema excludes",
}
