"""Cut JSON values to a length, so that the result is JSON, with a record of what was left out where.

Reading keeps the spelling of numbers, and writing stops at a length and does not recurse.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Literal

import attrs

from octoc.choices import KeptPart
from octoc.json_pointer import pointer_token

MAX_DEPTH = 100
"""Nesting of a cut value; parsers in models' programs accept at least that."""
ELLIPSIS = "…"
_WHOLE_ITEMS = 4
"""An item up to this part of its array's room stays whole if it fits: few whole records beat many cut ones."""
_WHOLE_MEMBERS = 16
_FIRST_BOUND = 64
_NEXT_BOUND = 8
"""Children are measured up to 64 characters, then up to 8 times more, until the room for long ones is known."""
_LEAST_MEMBER = 64
"""Room that each member of an object gets before whole members are left out."""

Unit = Literal["items", "members", "characters"]


@attrs.frozen(kw_only=True)
class Omission:
    """What was left out of one value: `kept` of `total` stay; `first` is the index of the first that is missing."""

    pointer: str
    unit: Unit
    kept: int
    total: int
    first: int


@attrs.define
class JsonCutter:
    """Cuts values to lengths and records what it left out, outermost first."""

    keep: KeptPart = "head"
    omissions: list[Omission] = attrs.field(factory=list)

    def cut(self, value: Any, room: int, pointer: str = "", depth: int = 0, *, is_longer: bool = False) -> str | None:
        """Return JSON of at most `room` characters for `value`; None if nothing of it fits.

        Arrays and objects lose items and members, strings their ends, numbers nothing. The work grows with `room` and
        with the number of children of cut containers, not with what is left out. `is_longer` means that the whole
        value is known not to fit.
        """
        text = None if is_longer else written(value, room, MAX_DEPTH - depth)
        if text is not None:
            return text
        if isinstance(value, (Mapping, list, tuple)):
            return self._container(value, room, pointer, depth)
        if isinstance(value, str) and type(value) is str:
            return self._string(value, room, pointer)
        return None

    def _string(self, value: str, room: int, pointer: str) -> str | None:
        kept = room - 2 - len(ELLIPSIS)
        while kept >= 0:
            text = quoted(value[:kept] + ELLIPSIS)
            if len(text) <= room:
                omission = Omission(pointer=pointer, unit="characters", kept=kept, total=len(value), first=kept)
                self.omissions.append(omission)
                return text
            kept = min(kept - 1, kept * room // len(text))
        return None

    def _container(self, value: Mapping[Any, Any] | Sequence[Any], room: int, pointer: str, depth: int) -> str | None:
        if room < len("[]"):
            return None
        is_object = isinstance(value, Mapping)
        children = _Children(value)
        deeper = depth + 1
        picked = _pick(children, room - 2, self.keep, MAX_DEPTH - deeper) if deeper < MAX_DEPTH else {}
        place = len(self.omissions)
        parts: dict[int, str] = {}
        for index in sorted(picked):
            share, text, is_longer = picked[index]
            if text is None:
                below = f"{pointer}/{children.token(index)}"
                text = self.cut(children.values[index], share, below, deeper, is_longer=is_longer)
            if text is not None:
                parts[index] = children.lead(index) + text
        if len(parts) < len(children):
            first = next(index for index in range(len(children)) if index not in parts)
            unit: Unit = "members" if is_object else "items"
            omission = Omission(pointer=pointer, unit=unit, kept=len(parts), total=len(children), first=first)
            self.omissions.insert(place, omission)
        inner = ",".join(parts.values())
        return f"{{{inner}}}" if is_object else f"[{inner}]"


class _Children:
    """The children of an array or object by index."""

    def __init__(self, value: Mapping[Any, Any] | Sequence[Any]) -> None:
        if isinstance(value, Mapping):
            self.keys: list[Any] | None = list(value)
            self.values: Sequence[Any] = list(value.values())
        else:
            self.keys = None
            self.values = value

    def __len__(self) -> int:
        return len(self.values)

    def lead(self, index: int) -> str:
        """Return the text before a child: a member's key and its colon."""
        return "" if self.keys is None else f"{quoted(str(self.keys[index]))}:"

    def cost(self, index: int) -> int:
        """Return the characters that a child takes in addition to its own text: its key, and a comma."""
        return len(self.lead(index)) + 1

    def token(self, index: int) -> str:
        """Return a child's reference token. Source: RFC 6901, section 4."""
        return str(index) if self.keys is None else pointer_token(self.keys[index])


Picked = dict[int, tuple[int, str | None, bool]]


def _pick(children: _Children, room: int, keep: KeptPart, depth: int) -> Picked:
    """Return index -> (room, text, is longer) of the children that stay.

    A child without a text must be cut to its room; `is longer` means that it is known not to fit.
    """
    count = len(children)
    if count == 0:
        return {}
    least = room // _WHOLE_ITEMS if children.keys is None else min(_LEAST_MEMBER, room)
    shared = _share(children, room, depth) if count * max(2, least) <= room or count <= _WHOLE_ITEMS else None
    if shared is not None and all(text is not None or share >= 2 for share, text, _ in shared.values()):
        return shared
    most = max(2, room // (_WHOLE_ITEMS if children.keys is None else _WHOLE_MEMBERS))
    picked: Picked = {}
    left = room + 1  # the last child needs no comma
    for index in _by_worth(count, keep):
        cost = children.cost(index)
        if cost > most:
            continue
        free = min(most, left - cost)
        if free < 1:
            break
        text = written(children.values[index], free, depth)
        if text is None and free < most and (picked or free < 2):
            break  # it would fit without the children before it
        picked[index] = (free if text is None else len(text), text, text is None)
        left -= cost + picked[index][0]
    long = [index for index, (_, text, _) in picked.items() if text is None]
    for index in long:
        more = left // len(long)
        picked[index] = (picked[index][0] + more, None, more <= 0)
    return picked


def _share(children: _Children, room: int, depth: int) -> Picked | None:
    """Return room for all children: small ones whole, the same room for each other one; None if keys do not fit."""
    count = len(children)
    left = room + 1 - sum(map(children.cost, range(count)))
    if left < 2 * count:
        return None
    texts: dict[int, str] = {}
    bound = _FIRST_BOUND
    while True:
        for index in range(count):
            if index not in texts and (text := written(children.values[index], bound, depth)) is not None:
                texts[index] = text
        free, rest = left, count
        for size in sorted(map(len, texts.values())):
            if size * rest > free:
                break
            free -= size
            rest -= 1
        if not rest:
            return {index: (len(text), text, False) for index, text in texts.items()}
        level = free // rest
        # All together are too long, so a single child of unknown length does not fit into the rest.
        if level <= bound or rest == 1:
            break
        bound = min(_NEXT_BOUND * bound, 2 * level)
    return {
        index: (len(text), text, False)
        if (text := texts.get(index)) is not None and len(text) <= level
        else (level, None, True)
        for index in range(count)
    }


def _by_worth(count: int, keep: KeptPart) -> Iterator[int]:
    """Yield indexes in the order in which to keep them: one of each end, then from the side that is kept."""
    if keep == "tail":
        return chain((count - 1,), range(min(1, count - 1)), range(count - 2, 0, -1))
    if keep == "both":
        return (place for index in range((count + 1) // 2) for place in dict.fromkeys((index, count - 1 - index)))
    return chain((0,), range(max(1, count - 1), count), range(1, count - 1))


class WrittenNumber(str):
    """The spelling of a number with a fraction or exponent, which a float would round."""

    __slots__ = ()


def parse_container(text: str) -> Any:
    """Return the array or object that a text is, or None for any other text.

    Anything that `json.loads` rejects counts as another text: NaN, nesting beyond its stack, numbers of thousands of
    digits.
    """
    if text.lstrip(" \t\r\n")[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text, parse_float=WrittenNumber, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def quoted(text: str) -> str:
    """Return a JSON string. Halves of surrogate pairs are escaped, as UTF-8 cannot encode them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return encode_basestring_ascii(text)
    return encode_basestring(text)


def scalar(value: Any) -> str:
    """Return a number, string, boolean or None as JSON, and a value that JSON does not have as a string."""
    if isinstance(value, WrittenNumber):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return quoted(json.dumps(value))
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return quoted(str(value))


def written(value: Any, bound: int | None = None, depth: int | None = None) -> str | None:
    """Return a value as compact JSON, or None if that is longer than `bound` or nested deeper than `depth`.

    Reads no more of the value than it may write.
    """
    pieces: list[str] = []
    room = bound
    for piece in _pieces(value, bound, depth):
        if piece is None:
            return None
        pieces.append(piece)
        if room is not None:
            room -= len(piece)
            if room < 0:
                return None
    return "".join(pieces)


def whole(value: Any) -> str:
    """Return a value as compact JSON, however long and deep."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        # It is too deep for `json`, has values that JSON does not have, or halves of surrogate pairs.
        return written(value) or ""
    return text


def _pieces(root: Any, bound: int | None, depth: int | None) -> Iterator[str | None]:
    """Yield the text of a value in pieces; None as soon as it is known to exceed the bounds."""
    levels: list[Iterator[tuple[str, Any]]] = [iter((("", root),))]
    closers = [""]
    while levels:
        step = next(levels[-1], None)
        if step is None:
            levels.pop()
            yield closers.pop()
            continue
        lead, value = step
        if isinstance(value, (Mapping, list, tuple)):
            if (bound is not None and 2 * len(value) > bound) or (depth is not None and len(levels) > depth):
                yield None
                return
            is_object = isinstance(value, Mapping)
            yield lead + ("{" if is_object else "[")
            levels.append(_children(value))
            closers.append("}" if is_object else "]")
        elif bound is not None and isinstance(value, str) and len(value) > bound:
            yield None
            return
        else:
            yield lead + scalar(value)


def _children(value: Mapping[Any, Any] | Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield each child with the text before it."""
    if isinstance(value, Mapping):
        return ((f"{',' * (n > 0)}{quoted(str(key))}:", child) for n, (key, child) in enumerate(value.items()))
    return (("," * (n > 0), child) for n, child in enumerate(value))
