"""Find tables that several files define under one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import attrs

from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import REPEATED_SCOPE

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Unique(Generic[T]):
    """The first table of each name, and the later ones of the same name."""

    first: Mapping[str, T]
    later: tuple[T, ...]

    @classmethod
    def of(
        cls, tables: Iterable[T], what: str, sink: DiagnosticSink, *, name: Callable[[Any], str] = lambda one: one.name
    ) -> Unique[T]:
        """Separate tables of one kind by name, and report each later one with the place of the first."""
        first: dict[str, Any] = {}
        later: list[T] = []
        for table in tables:
            one: Any = table
            before = first.setdefault(name(one), one)
            if before is one:
                continue
            later.append(table)
            sink.report(
                REPEATED_SCOPE,
                f"{what} `{name(one)}` is there twice",
                at=one.place.key(),
                related={"the first is here": before.place.key()},
                help="put what both say into one table, or give one of them another name",
            )
        return cls(first=first, later=tuple(later))
