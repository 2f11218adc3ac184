"""What lies in `routing/`: fixtures, needs, expanded triggers and background."""

from __future__ import annotations

from octoc.compiler.model.documents import Document
from octoc.compiler.model.source import ExpansionSource, FixturesSource, NeedSource
from octoc.compiler.structure.converter import structured


def fixtures_source(document: Document) -> FixturesSource:
    """Return the fixtures of one file, in its order."""
    return structured(FixturesSource, document.values, document.place())


def need_sources(document: Document) -> tuple[NeedSource, ...]:
    """Return the needs of one file, in its order."""
    return structured(tuple[NeedSource, ...], document.values, document.place())


def expansion_sources(document: Document) -> tuple[ExpansionSource, ...]:
    """Return the expansions of each capability, in the file's order."""
    return structured(tuple[ExpansionSource, ...], document.values, document.place())


def background_texts(document: Document) -> tuple[str, ...]:
    """Return the lines of one file."""
    return tuple(document.values["lines"])
