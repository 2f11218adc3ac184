"""Texts as files of a build: read, checked and structured."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.compiler.check.stage import sound_documents
from octoc.compiler.model.documents import Discovered, Documents, FoundFile
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import Sources
from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.stage import parse
from octoc.compiler.structure.stage import sources_of
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.plugin.file_kinds import FileKind
from tests.compiler.dialects import dialect_named


@attrs.frozen(kw_only=True)
class Text:
    """A file of a build: its path as the workspace names it, what it is, and its text."""

    display: str
    kind: FileKind
    text: str
    key: dict[str, str] = attrs.field(factory=dict)
    dialect: str = ""
    tap: str | None = None


@attrs.frozen(kw_only=True)
class Built:
    """The sources of some files, what was found on the way, and the text at a place."""

    sources: Sources
    codes: list[str]
    text_at: Callable[[Place], str]


Build = Callable[..., Built]


@pytest.fixture
def text_file() -> type[Text]:
    """The class of a file of a build."""
    return Text


@pytest.fixture
def build_sources() -> Build:
    """A function from files (and fields of Discovered) to their sources."""
    return _build


def _build(*texts: Text, **discovered: Any) -> Built:
    sink = DiagnosticSink()
    files = tuple(
        FoundFile(
            path=Path(text.display),
            display=text.display,
            kind=text.kind,
            tap=text.tap,
            key=text.key,
            dialect=dialect_named(text.kind, text.dialect),
        )
        for text in texts
    )
    parsed = (parse(file, text.text, "0" * 64, sink) for file, text in zip(files, texts, strict=True))
    documents = tuple(document for document in parsed if document is not None)
    found = Discovered(
        root=Path("/workspace"),
        settings=WorkspaceSettings(name="acme", place=Place(file="octoc.toml")),
        files=files,
        **discovered,
    )
    sources = sources_of(sound_documents(Documents(documents=documents, digests={}), sink), found)
    by_display = {text.display: text.text for text in texts}
    locate = SpanIndex(by_display.get)

    def text_at(place: Place) -> str:
        span = locate(place)
        row = by_display[place.file].splitlines()[span.line - 1]
        return row[span.column - 1 : span.end_column - 1]

    return Built(sources=sources, codes=[found.rule.code for found in sink.diagnostics], text_at=text_at)
