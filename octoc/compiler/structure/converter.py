"""Structures the checked values of a file as models. A value goes through cattrs together with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import attrs
import cattrs

from octoc.compiler.model.documents import kept
from octoc.compiler.model.located import KEY, OWN_NAME, Located
from octoc.compiler.model.scopes import Number
from octoc.compiler.model.source import ServerSource
from octoc.compiler.structure.lists import split
from octoc.diagnostics.model import KeyPath, Place

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]


class _IncompleteError(Exception):
    """A required key is absent. Check has reported and cut it."""


@attrs.frozen
class PlacedValue:
    """A plain value and its place: the input of every hook."""

    value: Any
    place: Place

    def find(self, path: KeyPath) -> PlacedValue | None:
        """Return the value at `path`; None when a key on the way is absent, or the value is null."""
        value = self.value
        for key in path:
            if isinstance(value, Mapping) and key not in value:
                return None
            value = value[key]
        return None if value is None else PlacedValue(value, self.place.child(*path) if path else self.place)


def structured(cls: type[T], values: Any, place: Place, form: str = KEY, **given: Any) -> T:
    """Return what `values` describe: an instance of an attrs class, or a tuple of instances.

    A field takes the value of the key of its name, or of the path in its metadata (`KEY`); its default stands for an
    absent key. A field `place` takes the place, and `Located` values take theirs. A list skips elements that check
    has removed and elements without a required key.

    Args:
        values: checked values; `place` is theirs.
        form: the metadata to read. Only `KEY` reads fields without metadata.
        given: values of fields that the file does not have; nothing is read for them.
    """
    at = PlacedValue(values, place)
    if attrs.has(cls):
        made: T = _reader(cls, form)(at, given)
        return made
    return _converter().structure(at, cls)


@cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=False)
    factories: tuple[tuple[Callable[[Any], bool], Callable[[Any, cattrs.Converter], Hook]], ...] = (
        (attrs.has, _model),
        (lambda hint: get_origin(hint) is Located, _located),
        (lambda hint: get_origin(hint) is tuple, _tuple),
        (lambda hint: get_origin(hint) is Mapping, _mapping),
        (lambda hint: get_origin(hint) is Annotated, _annotated),
        (lambda hint: get_origin(hint) is Literal, lambda *_: _text),
        (lambda hint: hint is Any, lambda *_: lambda at, _: _plain(at.value)),
        (lambda hint: hint == Number, lambda *_: _number),
        (lambda hint: hint == str | int, lambda *_: _whole),
    )
    for predicate, factory in factories:
        converter.register_structure_hook_factory(predicate, _bound(factory, converter))
    hooks: dict[type, Hook] = {
        str: _text,
        bool: lambda at, _: at.value,
        int: _whole,
        float: _float,
        ServerSource: _server,
    }
    for kind, hook in hooks.items():
        converter.register_structure_hook(kind, hook)
    return converter


def _plain(value: Any) -> Any:
    """Return a value that a plugin reads as JSON has it: TOML also has times, which become texts."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for _, item in kept(value)]
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _bound(factory: Callable[[Any, cattrs.Converter], Hook], converter: cattrs.Converter) -> Callable[[Any], Hook]:
    return lambda hint: factory(hint, converter)


def _model(cls: Any, _: cattrs.Converter) -> Hook:
    reader = _reader(cls, KEY)
    return lambda at, _: reader(at, {})


@cache
def _reader(cls: Any, form: str) -> Callable[[PlacedValue, Mapping[str, Any]], Any]:
    converter = _converter()
    fields = [
        (field.name, field.metadata.get(form, (field.name,)), field.type, field.default is attrs.NOTHING)
        for field in attrs.fields(attrs.resolve_types(cls))
        if form == KEY or form in field.metadata or field.name == "place"
    ]
    hooks: dict[str, Hook] = {}

    def read(at: PlacedValue, given: Mapping[str, Any]) -> Any:
        made = dict(given)
        for name, path, hint, is_required in fields:
            if name in given:
                continue
            if name == "place":
                made[name] = at.place
                continue
            found = PlacedValue(at.place.path[-1], at.place) if path == OWN_NAME else at.find(path)
            if found is not None:
                # Made when it is first used: what is always given has no hook.
                hook = hooks.get(name) or hooks.setdefault(name, converter.get_structure_hook(hint))
                made[name] = hook(found, hint)
            elif is_required:
                raise _IncompleteError(name)
        return cls(**made)

    return read


def _located(hint: Any, converter: cattrs.Converter) -> Hook:
    (inner,) = get_args(hint)
    hook = converter.get_structure_hook(inner)

    def structure(at: PlacedValue, _: Any) -> Any:
        value = hook(at, inner)
        return Located(value.strip() if isinstance(value, str) else value, at.place)

    return structure


def _tuple(hint: Any, converter: cattrs.Converter) -> Hook:
    """Return the hook of a list. A table of tables is a list of its entries, and one string a list of itself."""
    inner = get_args(hint)[0]
    hook = converter.get_structure_hook(inner)

    def structure(at: PlacedValue, _: Any) -> Any:
        if isinstance(at.value, str):
            return (hook(at, inner),)
        made = []
        for key, value in at.value.items() if isinstance(at.value, Mapping) else kept(at.value):
            try:
                made.append(hook(PlacedValue(value, at.place.child(key)), inner))
            except _IncompleteError:
                continue
        return tuple(made)

    return structure


def _mapping(hint: Any, converter: cattrs.Converter) -> Hook:
    inner = get_args(hint)[1]
    hook = converter.get_structure_hook(inner)
    return lambda at, _: {key: hook(PlacedValue(value, at.place.child(key)), inner) for key, value in at.value.items()}


def _annotated(hint: Any, converter: cattrs.Converter) -> Hook:
    """Return the hook of a text that is stripped, or of names that one string may hold."""
    inner, kind = get_args(hint)
    hook = converter.get_structure_hook(inner)
    if inner is str:
        return lambda at, _: hook(at, inner).strip()
    return lambda at, _: split(at.value, at.place, kind) if isinstance(at.value, str) else hook(at, inner)


def _server(at: PlacedValue, _: Any) -> ServerSource:
    # Not at the top: a build that has nothing to do reads settings alone.
    from octoc.compiler.structure.servers import server_of_octomind

    return server_of_octomind(at.value, at.place)


# JSON Schema takes 4.0 for a whole number and 1 for a number; settings are digested, so each has one form.


def _whole(at: PlacedValue, _: Any) -> Any:
    return at.value if isinstance(at.value, bool | str) else int(at.value)


def _float(at: PlacedValue, _: Any) -> float:
    return float(at.value)


def _number(at: PlacedValue, _: Any) -> Number:
    """Return a number of a quota: seconds for its window, else a whole one."""
    return float(at.value) if at.place.path[-1] == "window" else int(at.value)


def _text(at: PlacedValue, _: Any) -> str:
    """Return a text; settings of an encoder may be numbers or flags, and plugins get text."""
    if isinstance(at.value, bool):
        return "true" if at.value else "false"
    return at.value if isinstance(at.value, str) else str(int(at.value))
