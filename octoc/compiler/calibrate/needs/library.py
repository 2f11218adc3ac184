"""Reads the library of needs."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import attrs


@attrs.frozen
class Need:
    """Something that people ask for: `about` in one sentence, `says` as they put it."""

    name: str
    about: str
    says: tuple[str, ...]

    @property
    def described(self) -> tuple[str, str]:
        """Its sentence, and its name as words."""
        return self.about, self.name.replace("-", " ")


@cache
def shipped_needs() -> tuple[Need, ...]:
    """Return the needs that ship with octoc, sorted by name; one that stands in two files is taken from the last."""
    found: dict[str, Need] = {}
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        with path.open("rb") as file:
            tables = tomllib.load(file)
        for name, table in tables.items():
            found[name] = Need(name, table["about"], tuple(dict.fromkeys(table["says"])))
    return tuple(found[name] for name in sorted(found))


def with_own(shipped: Sequence[Need], own: Sequence[Need]) -> tuple[Need, ...]:
    """Return the library and a workspace's own needs, sorted by name; one of its own stands in for one of that name."""
    found = {need.name: need for need in (*shipped, *own)}
    return tuple(found[name] for name in sorted(found))


def library_texts(needs: Sequence[Need]) -> tuple[str, ...]:
    """Return every text of the needs, each once."""
    return tuple(dict.fromkeys(text for need in needs for text in (*need.says, *need.described)))
