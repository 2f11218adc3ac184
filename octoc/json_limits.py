"""Limits on JSON that others write: its elements and its depth are counted in its bytes, before objects are built.

A text of 14 MB may stand for 1 GB of objects, and a parser that has begun keeps every other task waiting.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, Literal

import attrs

MAX_ELEMENTS = 250_000
"""Elements of one message: items of arrays, members of objects, and arrays and objects themselves."""
MAX_LISTING_ELEMENTS = 1_000_000
"""Elements of a list of tools, whose schemas are many small objects."""
MAX_DEPTH = 200
"""Arrays and objects inside each other."""
LARGE_BYTES = 256 * 1024
"""A longer text is parsed in a thread."""

_ODD_NUMBER = re.compile(rb"NaN|Infinity|[0-9][eE]\+?[0-9]{3}|[0-9]{300}")
"""What may be a number that JSON does not have, or that no float can hold: many parsers take both."""
_PIECE = 256 * 1024
_OTHERS = bytes(byte for byte in range(256) if byte not in b'",[]{}')
_ALIKE = bytes.maketrans(b"{}", b"[]")
_STEPS = {ord("["): 1, ord("]"): -1}
_ESCAPED = re.compile(rb"\\*.?", re.DOTALL)


@attrs.frozen
class Excess:
    """What of a JSON text is over its limit. As text, a few words such as "more than 9 JSON elements"."""

    of: Literal["elements", "depth"]
    limit: int

    def __str__(self) -> str:
        if self.of == "elements":
            return f"more than {self.limit} JSON elements"
        return f"JSON nested more than {self.limit} levels deep"


def excess(data: bytes, max_elements: int = MAX_ELEMENTS, max_depth: int = MAX_DEPTH) -> Excess | None:
    """Return what of a JSON text is over a limit, None if nothing is.

    Elements are the commas and opening brackets outside strings. A count over all bytes comes first: it takes
    milliseconds for 16 MB, and is too high by what stands in strings. Only a text that exceeds a limit by it is
    counted exactly, so that long texts in strings are never refused. Takes linear time; the text need not be JSON.
    """
    opened = data.count(b"[") + data.count(b"{")
    if opened <= max_depth and (len(data) <= max_elements or opened + data.count(b",") <= max_elements):
        return None
    elements = depth = 0
    for marks in _outside_strings(data):
        brackets = marks.translate(_ALIKE, b",")
        elements += len(marks) - len(brackets) + brackets.count(b"[")
        if elements > max_elements:
            return Excess("elements", max_elements)
        if opened > max_depth:
            levels = list(accumulate(map(_STEPS.__getitem__, brackets), initial=depth))
            if max(levels) > max_depth:
                return Excess("depth", max_depth)
            depth = levels[-1]
    return None


def _outside_strings(data: bytes) -> Iterator[bytes]:
    """Yield the commas and brackets of a JSON text that stand outside its strings, piece by piece."""
    inside = False
    start = 0
    while start < len(data):
        end = min(len(data), start + _PIECE)
        if data[end - 1 : end] == b"\\":  # an escape must not be cut in two
            escaped = _ESCAPED.match(data, end)
            end = len(data) if escaped is None else escaped.end()
        marks = data[start:end].replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OTHERS)
        runs = marks.split(b'"')
        yield b"".join(runs[inside::2])
        inside ^= len(runs) % 2 == 0
        start = end


def parse(data: bytes) -> Any:
    """Return the value of a JSON text in UTF-8, to be called in a thread. Raises: ValueError, RecursionError.

    The parser of `json` lets other threads run only while it calls a Python function: that is what the hooks are for.
    """
    return _parsed(data.decode("utf-8"))


def _parsed(text: str) -> Any:
    import json

    return json.loads(
        text, object_pairs_hook=_object, parse_int=_integer, parse_float=finite, parse_constant=_refuse_constant
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(pairs)


def _integer(text: str) -> int:
    return int(text)


class NumberError(ValueError):
    """A text has a number that is not JSON, or that no float holds."""


def finite(text: str) -> float:
    """Return a number that is written as JSON. Raises: NumberError for one that no float holds."""
    number = float(text)
    if math.isinf(number):
        raise NumberError("a number is too large")
    return number


def _refuse_constant(name: str) -> Any:
    raise NumberError(f"`{name}` is not JSON")


def may_have_odd_number(data: bytes) -> bool:
    """Return whether a JSON text may have a number that `parse` refuses; also true of some strings."""
    return _ODD_NUMBER.search(data) is not None


def odd_number(data: bytes) -> str | None:
    """Return why a number of a JSON text is refused, None if none is or the text is not JSON."""
    if not may_have_odd_number(data):
        return None
    try:
        parse(data)
    except NumberError as error:
        return str(error)
    except (ValueError, RecursionError):
        return None
    return None


def check_numbers(value: Any) -> None:
    """Raises: ValueError, if a value that is to become JSON has NaN, an infinity or a circle; RecursionError."""
    import json

    with contextlib.suppress(TypeError):  # a key of a type that JSON does not have
        json.dumps(value, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
