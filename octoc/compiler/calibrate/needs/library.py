"""Reads the library of needs."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import attrs


@attrs.frozen
class Need:
    """A purpose of users. `about` describes it in one sentence; `says` are messages of users."""

    name: str
    about: str
    says: tuple[str, ...]

    @property
    def described(self) -> tuple[str, str]:
        """Its sentence, and its name as words."""
        return self.about, self.name.replace("-", " ")


@cache
def shipped_needs() -> tuple[Need, ...]:
    """Return the needs that ship with octoc, sorted by name; the last file wins for a repeated name."""
    needs: dict[str, Need] = {}
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        with path.open("rb") as file:
            tables = tomllib.load(file)
        for name, table in tables.items():
            needs[name] = Need(name, table["about"], tuple(dict.fromkeys(table["says"])))
    return tuple(needs[name] for name in sorted(needs))


def with_own(shipped: Sequence[Need], own: Sequence[Need]) -> tuple[Need, ...]:
    """Return the library and a workspace's own needs, sorted by name; an own need replaces one of the library."""
    needs = {need.name: need for need in (*shipped, *own)}
    return tuple(needs[name] for name in sorted(needs))


def library_texts(needs: Sequence[Need]) -> tuple[str, ...]:
    """Return the texts of the needs without repeated ones."""
    return tuple(dict.fromkeys(text for need in needs for text in (*need.says, *need.described)))
