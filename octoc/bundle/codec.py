"""Between the model's attrs classes and plain JSON values, driven by the classes' own type hints.

A class with keyword-only fields is an object; fields at their default are left out, so a default is part of the format.
A class with positional fields is an array of all of them (`Slice` is `[offset, length]`). Unknown keys are passed over:
a later revision of the format may add some. Every wrong shape is a `BundleError` with its key path.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import attrs

from octoc.bundle.refusal import BundleError

T = TypeVar("T")
_Convert = Callable[[Any], Any]
_Make = Callable[[Iterable[Any]], Any]
_WORDS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


def encode(value: Any) -> Any:
    """Return an instance of an attrs class as plain JSON values.

    Raises: BundleError when a value is not of its field's type, so that nothing is written which could not be read.
    """
    return _encoder(cast("Any", type(value)))(value)


def decode(cls: type[T], data: Any) -> T:
    """Return the instance of `cls` that `encode` made `data` of. Raises: BundleError."""
    return cast("T", _decoder(cast("Any", cls))(data))


def _found(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    return "an array" if isinstance(value, (list, tuple)) else _WORDS.get(type(value), f"`{type(value).__name__}`")


def _expected(what: str, value: Any) -> BundleError:
    return BundleError(f"expected {what}, found {_found(value)}")


def _exactly(kind: type) -> _Convert:
    def convert(value: Any) -> Any:
        if type(value) is not kind:
            raise _expected(_WORDS[kind], value)
        return value

    return convert


def _one_of(words: tuple[str, ...]) -> _Convert:
    def convert(value: Any) -> Any:
        if value not in words:
            raise _expected(f"one of {', '.join(words)}", value)
        return value

    return convert


def _float(value: Any) -> float:
    if type(value) is not float and type(value) is not int:
        raise _expected("a number", value)
    if not math.isfinite(value):
        raise BundleError("expected a finite number")
    return float(value)


def _plain(value: Any) -> Any:
    """Return a free-form value in JSON's own types, as `json` would read it back."""
    if type(value) in _AS_THEY_ARE:
        return value
    if type(value) is float:
        return _float(value)
    if isinstance(value, Mapping):
        return _plain_object(value)
    if isinstance(value, (list, tuple)):
        # Thousands of words in one list: as in `_sequence`, their types are compared in one go.
        return list(value) if set(map(type, value)) <= _AS_THEY_ARE else _each(value, _plain)
    raise _expected("a plain JSON value", value)


def _each(values: Iterable[Any], convert: _Convert) -> list[Any]:
    made: list[Any] = []
    try:
        for value in values:
            made.append(convert(value))  # noqa: PERF401  # how many were made tells where the error is
    except BundleError as error:
        raise error.under(len(made)) from None
    return made


def _paired(values: Iterable[Any], converts: Iterable[_Convert]) -> list[Any]:
    made: list[Any] = []
    try:
        for value, convert in zip(values, converts, strict=True):
            made.append(convert(value))
    except BundleError as error:
        raise error.under(len(made)) from None
    return made


def _mapping(convert: _Convert) -> _Convert:
    def mapping(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _expected("an object", value)
        made = {}
        for key, item in value.items():
            if type(key) is not str:
                raise BundleError(f"expected keys that are strings, found {_found(key)}")
            try:
                made[key] = convert(item)
            except BundleError as error:
                raise error.under(key) from None
        return made

    return mapping


_plain_object = _mapping(_plain)


def _optional(convert: _Convert) -> _Convert:
    return lambda value: None if value is None else convert(value)


def _sequence(convert: _Convert, make: _Make, scalar: type | None) -> _Convert:
    # Thousands of tool indexes per agent: comparing their types in one go is far cheaper than a call for each.
    only = {scalar} if scalar in (str, int, bool) else None

    def sequence(value: Any) -> Any:
        if type(value) is not list and type(value) is not tuple:
            raise _expected("an array", value)
        sound = only is not None and set(map(type, value)) <= only
        return make(value if sound else _each(value, convert))

    return sequence


def _fixed(converts: tuple[_Convert, ...], make: _Make) -> _Convert:
    def fixed(value: Any) -> Any:
        if type(value) is not list and type(value) is not tuple:
            raise _expected(f"an array of {len(converts)}", value)
        if len(value) != len(converts):
            raise BundleError(f"expected an array of {len(converts)}, found {len(value)} values")
        return make(_paired(value, converts))

    return fixed


def _converter(hint: Any, of_class: Callable[[type], _Convert], make: _Make) -> _Convert:
    """Return what converts a value of type `hint`; `of_class` makes converters of attrs classes, `make` sequences."""
    if hint is Any:
        return _plain
    if hint is float:
        return _float
    if hint in (str, int, bool):
        return _exactly(hint)
    if isinstance(hint, type) and attrs.has(hint):
        return of_class(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _one_of(args)
    if origin in (Union, types.UnionType) and len(args) == 2 and type(None) in args:
        return _optional(_converter(next(arg for arg in args if arg is not type(None)), of_class, make))
    if origin is tuple and args[1:] == (...,):
        scalar = args[0] if isinstance(args[0], type) else None
        return _sequence(_converter(args[0], of_class, make), make, scalar)
    if origin is tuple:
        return _fixed(tuple(_converter(arg, of_class, make) for arg in args), make)
    if origin is not None and issubclass(origin, Mapping) and args[0] is str:
        return _mapping(_converter(args[1], of_class, make))
    raise TypeError(f"the bundle's model has a type that the codec has no form for: {hint!r}")


@attrs.frozen(eq=False)
class _Shape:
    """A class as the codec sees it: its fields' converters, their defaults, and whether it is an array."""

    fields: Mapping[str, _Convert]
    defaults: Mapping[str, Any]
    is_array: bool


def _shape(cls: type, of_class: Callable[[type], _Convert], make: _Make) -> _Shape:
    hints = get_type_hints(cls)
    fields = attrs.fields(cls)
    return _Shape(
        {field.name: _converter(hints[field.name], of_class, make) for field in fields},
        {field.name: _default(field.default) for field in fields if field.default is not attrs.NOTHING},
        not any(field.kw_only for field in fields),
    )


def _default(default: Any) -> Any:
    return default.factory() if isinstance(default, attrs.Factory) else default  # type: ignore[arg-type]


@cache
def _encoder(cls: type) -> _Convert:
    if not attrs.has(cls):
        raise TypeError(f"`{cls.__name__}` is not an attrs class")
    shape = _shape(cls, _encoder, list)
    missing = object()

    def encode_array(value: Any) -> Any:
        _instance_of(cls, value)
        return _paired([getattr(value, name) for name in shape.fields], shape.fields.values())

    def encode_object(value: Any) -> Any:
        _instance_of(cls, value)
        made = {}
        for name, convert in shape.fields.items():
            item = getattr(value, name)
            if item == shape.defaults.get(name, missing):
                continue
            try:
                made[name] = convert(item)
            except BundleError as error:
                raise error.under(name) from None
        return made

    return encode_array if shape.is_array else encode_object


def _instance_of(cls: type, value: Any) -> None:
    if type(value) is not cls:
        raise _expected(f"`{cls.__name__}`", value)


@cache
def _decoder(cls: type) -> _Convert:
    shape = _shape(cls, _decoder, tuple)
    required = [name for name in shape.fields if name not in shape.defaults]
    if shape.is_array:
        return _fixed(tuple(shape.fields.values()), lambda values: cls(*values))
    converts = shape.fields

    def decode_object(value: Any) -> Any:
        if type(value) is not dict:
            raise _expected("an object", value)
        made = {}
        for key, item in value.items():
            convert = converts.get(key)
            if convert is None:
                continue
            try:
                made[key] = convert(item)
            except BundleError as error:
                raise error.under(key) from None
        for name in required:
            if name not in made:
                raise BundleError(f"expected the key `{name}`, which is missing")
        return cls(**made)

    return decode_object
