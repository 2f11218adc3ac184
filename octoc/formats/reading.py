"""Arguments between the form that a model was shown and the form that the tool's own schema has.

A `Reading` says where the two differ; None is a place where they do not. Whatever is already in the tool's own form
stays as it is, so both forms are taken.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from octoc.json_limits import finite

_MISSING = object()


@attrs.frozen(kw_only=True)
class Reading:
    """How the values at one place of a rewritten schema are read.

    Args:
        text: objects and arrays are given as JSON text, and a text that is such JSON, or JSON of a text, is read.
        names: shown name -> the property's own, where they differ.
        properties: readings of an object's properties, by their own names; `items` and `prefix` of an array's items.
        alternatives: for a union, the first one that fits reads the value. wrapped: the one property whose JSON text is
        the whole object; "" for none.
    """

    text: bool = False
    names: Mapping[str, str] = attrs.field(factory=dict)
    properties: Mapping[str, Reading] = attrs.field(factory=dict)
    items: Reading | None = None
    prefix: tuple[Reading | None, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    wrapped: str = ""

    def __bool__(self) -> bool:
        """Whether anything is read otherwise than it stands there."""
        return self != _AS_IT_IS


@attrs.frozen(kw_only=True)
class Alternative:
    """One of a union's objects or arrays, told apart by what both forms have in common.

    `fixed` are the texts that a property may only have. `known` None is an object that says nothing of its properties.
    """

    kind: str
    required: frozenset[str] = frozenset()
    known: frozenset[str] | None = None
    fixed: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    reading: Reading | None = None

    def fits(self, value: Any) -> bool:
        """Tell whether a value looks like this one, in either form."""
        if isinstance(value, list):
            return self.kind == "array"
        if not isinstance(value, Mapping) or self.kind != "object" or not self.required.issubset(value):
            return False
        if self.known is not None and not self.known.issuperset(value):
            return False
        return all(value[name] in texts for name, texts in self.fixed.items() if isinstance(value.get(name), str))


_AS_IT_IS = Reading()


def read(reading: Reading | None, value: Any) -> Any:
    """Return a value in the tool's own form, of one in the shown form or already in its own. Never raises."""
    if not reading:
        return value
    if reading.text and isinstance(value, str):
        parsed = _parsed(value)
        return value if parsed is _MISSING else parsed
    if reading.alternatives:
        return read(_chosen(reading, value), value)
    if isinstance(value, Mapping):
        if reading.wrapped and value.keys() == {reading.wrapped}:
            whole = value[reading.wrapped]
            parsed = _parsed(whole) if isinstance(whole, str) else whole
            return parsed if isinstance(parsed, Mapping) else value
        # A name of the tool's own beside the one that was shown for it: then the second is not that property.
        own: dict[Any, str] = {
            key: reading.names[key] for key in value if key in reading.names and reading.names[key] not in value
        }
        named = {own.get(key, key): one for key, one in value.items()}
        return {key: read(reading.properties.get(str(key)), one) for key, one in named.items()}
    if isinstance(value, list):
        return [read(_item(reading, index), one) for index, one in enumerate(value)]
    return value


def written(reading: Reading | None, value: Any) -> Any:
    """Return a value of the tool's own form in the shown form: `read` gives it back.

    For calls of an earlier turn that are shown again, where the model now gets another form.
    """
    if not reading:
        return value
    if reading.text and isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False)
    if reading.text and isinstance(value, str):
        return value if _parsed(value) is _MISSING else json.dumps(value, ensure_ascii=False)
    if reading.alternatives:
        return written(_chosen(reading, value), value)
    if isinstance(value, Mapping):
        if reading.wrapped:
            return {reading.wrapped: json.dumps(value, ensure_ascii=False)}
        shown = {own: name for name, own in reading.names.items()}
        return {shown.get(key, key): written(reading.properties.get(key), one) for key, one in value.items()}
    if isinstance(value, list):
        return [written(_item(reading, index), one) for index, one in enumerate(value)]
    return value


def _chosen(reading: Reading, value: Any) -> Reading | None:
    return next((one.reading for one in reading.alternatives if one.fits(value)), None)


def _item(reading: Reading, index: int) -> Reading | None:
    return reading.prefix[index] if index < len(reading.prefix) else reading.items


def _parsed(text: str) -> Any:
    """Return what a text is the JSON of, if that is an object, an array or a text; else `_MISSING`."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return _MISSING
    try:
        return json.loads(text, parse_float=finite, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _MISSING


def _refuse(name: str) -> Any:
    raise ValueError(name)  # NaN and the infinities are not JSON
