"""Limits on JSON: elements and depth are counted in the bytes, exactly where the cheap count is over the limit."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from octoc import json_limits
from octoc.json_limits import Excess, excess, parse

TEXT = 'a"\\,[]{}: \né'


def elements_of(value: Any) -> int:
    """Count the commas and brackets with which a value is written."""
    if not isinstance(value, (list, dict)):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return max(1, len(value)) + sum(map(elements_of, inner))


def depth_of(value: Any) -> int:
    """Count the containers inside each other."""
    if not isinstance(value, (list, dict)):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth_of, inner), default=0)


def _text(chance: random.Random) -> str:
    return "".join(chance.choice(TEXT) for _ in range(chance.randrange(6)))


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.random()
    if depth and kind < 0.3:
        return [_value(chance, depth - 1) for _ in range(chance.randrange(4))]
    if depth and kind < 0.6:
        return {_text(chance): _value(chance, depth - 1) for _ in range(chance.randrange(4))}
    return _text(chance) if kind < 0.9 else chance.choice([3, None, True, 1.5])


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 256 * 1024])
def test_elements_and_depth_are_counted_exactly(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the limit a text passes and above it it does not, wherever strings and escapes are cut into pieces."""
    monkeypatch.setattr(json_limits, "_PIECE", piece)
    chance = random.Random(7)
    for _ in range(300):
        value = _value(chance, 5)
        data = json.dumps(value, ensure_ascii=chance.random() < 0.5).encode()
        elements, depth = elements_of(value), depth_of(value)
        assert excess(data, elements, depth) is None
        if elements:
            assert excess(data, elements - 1, depth) == Excess("elements", elements - 1)
            assert excess(data, elements, depth - 1) == Excess("depth", depth - 1)


@pytest.mark.parametrize("char", [",", "[", "{", "\\", '"', '\\",['])
def test_a_long_text_in_a_string_is_never_too_much(char: str) -> None:
    """Commas and brackets inside a string do not count as elements."""
    data = json.dumps({"content": [{"type": "text", "text": char * 300_000}]}).encode()
    assert excess(data, 100, 3) is None
    assert excess(data, 2, 3) == Excess("elements", 2)


def test_what_is_too_much_says_by_how_much() -> None:
    """The reason names the limit."""
    assert str(excess(b"[[1,2,3],[4]]", 4)) == "more than 4 JSON elements"
    assert str(excess(b"[[[]]]", 4, 2)) == "JSON nested more than 2 levels deep"


@pytest.mark.parametrize("data", [b"", b'"', b"\\", b"]]]]", b"[[[[", b'["\\', b'{"a":"\\\\', b"\xff[", b'["a' * 9])
def test_what_is_not_json_is_counted_too(data: bytes) -> None:
    """The count accepts broken text, whose mistake the parser reports."""
    assert excess(data * 50, 10_000, 10_000) is None
    excess(data * 50, 1, 1)


def test_a_text_is_parsed_as_json_parses_it() -> None:
    """The parser for threads gives the same values, and refuses what is not JSON."""
    chance = random.Random(11)
    for _ in range(100):
        value = _value(chance, 4)
        assert parse(json.dumps(value).encode()) == value
    assert parse(b'{"a":1,"a":-2.5e3}') == {"a": -2500.0}
    for wrong in (b"[NaN]", b"[-Infinity]", b"[1", b"\xff"):
        with pytest.raises(ValueError, match=r"."):
            parse(wrong)
