"""octoc's own dialects by name, and what a client's file comes to, for tests."""

from pathlib import Path
from typing import Any

import attrs

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.registry import DIALECTS, FileKinds
from octoc.compiler.model.documents import FoundFile
from octoc.compiler.model.source import McpFileSource
from octoc.compiler.read.stage import parse
from octoc.compiler.structure.stage import mcp_file
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.plugin.file_kinds import NO_DIALECT, Dialect, FileKind
from octoc.plugin.manager import Plugins

_KNOWN: dict[tuple[str, str], Dialect] = {(one.kind, one.name): one for one in DIALECTS}


def dialect_named(kind: FileKind, name: str) -> Dialect:
    """Return the dialect `name` of a kind of file; of a kind without dialects, what stands for none."""
    return _KNOWN.get((kind.name, name), NO_DIALECT)


def servers_of(path: str, text: str) -> dict[str, dict[str, Any]]:
    """Return what is set of each server of a file, by name."""
    sink = DiagnosticSink()
    file = FoundFile(path=Path(path), display=path, kind=MCP, dialect=FileKinds().dialect_of(MCP, Path(path)))
    document = parse(file, text, "0" * 64, sink)
    assert document is not None
    source: McpFileSource = mcp_file(document)
    left_out = ("name", "place", "written")
    return {
        server.name: {
            key: value
            for key, value in attrs.asdict(server).items()
            if key not in left_out and value not in (None, (), {}, False)
        }
        for server in source.servers
    }


def findings(root: Path, path: str, text: str) -> list[tuple[str, str, int]]:
    """Return (code, message, line) of each error and warning in a folder with one file."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    outcome = check_target(CheckTarget(root=root, folder=root), plugins=Plugins(), use_cache=False)
    assert root / path in outcome.read
    return [
        (found.rule.code, found.message, found.span.line if found.span else 0)
        for found in outcome.diagnostics
        if found.severity > Severity.INFO
    ]
