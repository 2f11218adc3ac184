"""A workspace made of a few lines, discovered and read with real parts."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.compiler.cache.store import Cache
from octoc.compiler.context import Context
from octoc.compiler.discover.stage import find_files
from octoc.compiler.model.documents import Discovered, Documents
from octoc.compiler.model.settings import TapRef, WorkspaceSettings
from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.stage import read_files
from octoc.compiler.read.text import text_reader
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.plugin.manager import plugins_of


@attrs.frozen(kw_only=True)
class Outcome:
    """What discover found, and lines `CODE file message` of what it reported."""

    discovered: Discovered
    documents: Documents
    findings: list[str]

    @property
    def files(self) -> list[str]:
        return [f"{file.kind} {file.display}" for file in self.discovered.files]


Find = Callable[..., Outcome]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """A function that writes files (path -> text; `-> target` makes a symlink) below a fresh `ws`, and returns that."""
    root = tmp_path / "ws"

    def make(files: Mapping[str, str]) -> Path:
        root.mkdir(exist_ok=True)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text.startswith("-> "):
                path.symlink_to(text.removeprefix("-> "))
            else:
                path.write_bytes(text.encode())
        return root

    return make


@pytest.fixture
def find() -> Find:
    """A function from a workspace's folder, its taps and other settings to the outcome of discover and read."""

    def run(root: Path, *taps: str, **settings: Any) -> Outcome:
        sink = DiagnosticSink(SpanIndex(text_reader(root)))
        place = Place(file="octoc.toml")
        refs = tuple(
            TapRef(name=f"tap{index}", path=path, place=place.child("taps", index)) for index, path in enumerate(taps)
        )
        workspace = attrs.evolve(WorkspaceSettings(name="ws", place=place, taps=refs), **settings)
        context = Context(root=root, sink=sink, cache=Cache(root=root), plugins=plugins_of())
        discovered = find_files(workspace, context)
        documents = read_files(discovered, context)
        findings = [
            f"{each.rule.code} {each.span.file if each.span else ''}: {each.message}" for each in sink.diagnostics
        ]
        return Outcome(discovered=discovered, documents=documents, findings=findings)

    return run
