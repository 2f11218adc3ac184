"""Files become a workspace; it is linted, and a fix can be applied to see what it makes of the file."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.compiler.cache.store import Cache
from octoc.compiler.discover.stage import discover
from octoc.compiler.model.build import Build
from octoc.compiler.pipeline import run_checks
from octoc.compiler.workspace.environment import Environment
from octoc.compiler.workspace.load import load_workspace
from octoc.diagnostics.model import Diagnostic, Span
from octoc.plugin.manager import plugins_of


@attrs.frozen(kw_only=True)
class Linted:
    """What was found in a workspace."""

    root: Path
    diagnostics: tuple[Diagnostic, ...]

    def of(self, *codes: str) -> list[Diagnostic]:
        """Return the findings of these rules."""
        return [found for found in self.diagnostics if found.rule.code in codes]

    def shown(self, *codes: str) -> list[tuple[str, str]]:
        """Return code and marked text of the findings of these rules, all of OCT440 to OCT469 without any."""
        return [
            (found.rule.code, self.text_at(found.span))
            for found in self.diagnostics
            if (found.rule.code in codes if codes else "OCT440" <= found.rule.code < "OCT470")
        ]

    def text_at(self, span: Span | None) -> str:
        """Return the text of a span, "" for a file as a whole."""
        assert span is not None
        if span.line == 0:
            return ""
        start, end = _offsets(self.text(span.file), span)
        return self.text(span.file)[start:end]

    def text(self, file: str) -> str:
        return (self.root / file).read_text(encoding="utf-8")

    def fixed(self, found: Diagnostic) -> str:
        """Return the text of the finding's file after its fix."""
        assert found.fix is not None
        file = found.fix.edits[0].span.file
        text = self.text(file)
        for edit in sorted(found.fix.edits, key=lambda edit: edit.span, reverse=True):
            start, end = _offsets(text, edit.span)
            text = text[:start] + edit.text + text[end:]
        return text


def _offsets(text: str, span: Span) -> tuple[int, int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1


Lint = Callable[..., Linted]


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    """A function (files by path, servers of `.mcp.json`, mode, environment) -> Linted."""

    def run(
        files: Mapping[str, str] | None = None,
        *,
        servers: Mapping[str, Any] | None = None,
        mode: str = "development",
        environment: Environment | None = None,
    ) -> Linted:
        written = {"octoc.toml": f'[workspace]\nname = "acme"\nmode = "{mode}"\n', **(files or {})}
        if servers is not None:
            written[".mcp.json"] = json.dumps({"mcpServers": servers}, indent=2, ensure_ascii=False)
        for path, text in written.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="")
        loaded = load_workspace(tmp_path, cache=Cache(None), plugins=plugins_of())
        assert loaded.settings is not None
        context = attrs.evolve(loaded.context, environment=environment)
        run_checks(discover(Build(settings=loaded.settings), context), context)
        return Linted(root=tmp_path, diagnostics=loaded.context.sink.diagnostics)

    return run
