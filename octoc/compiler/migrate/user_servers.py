"""The servers of a client's own file outside of any project, as a project's file without the secrets in it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import attrs
import tomlkit

from octoc.compiler.check.stage import check_values
from octoc.compiler.inputs.mcp.claude import MCP_FILE
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.migrate.octopus import MOST_BYTES, Migration
from octoc.compiler.model.documents import FoundFile
from octoc.compiler.model.source import McpFileSource
from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.stage import parse
from octoc.compiler.read.text import Limit, load_text
from octoc.compiler.resolve.secrets import reference_secrets
from octoc.compiler.structure.settings import name_of_folder
from octoc.compiler.structure.stage import mcp_file
from octoc.compiler.workspace.init import find_inputs, settings_document
from octoc.compiler.workspace.paths import WORKSPACE_FILE, display_path
from octoc.diagnostics.model import Diagnostic, DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.plugin.file_kinds import Dialect

_FIELDS = ("command", "args", "env", "url", "headers")


def user_file(dialect: Dialect) -> Path | None:
    """Return the file that a user of this system has for a client, None where the client has no place for one."""
    written = dialect.user_files.get(sys.platform, dialect.user_files.get("", ""))
    return Path(os.path.expandvars(written)).expanduser() if written else None


def read_user_servers(folder: Path, path: Path, dialect: Dialect) -> tuple[Migration | None, tuple[Diagnostic, ...]]:
    """Return the files that `path` becomes in `folder`, None when it cannot be used, and the findings.

    Literal secrets stay in the client's file: a reference stands in place of each, and a note names it.
    """
    display = display_path(folder, path.absolute())
    texts: list[str] = []
    sink = DiagnosticSink(SpanIndex(lambda _: texts[0] if texts else None))
    source = load_text(path, display, Limit(size=MOST_BYTES, key=""), sink)
    if source is None or source.text is None:
        return None, sink.diagnostics
    texts.append(source.text)
    file = FoundFile(path=path, display=display, kind=MCP, dialect=dialect)
    document = parse(file, source.text, source.digest, sink)
    values = None if document is None else check_values(file, document.values, sink, converted=document.converted)
    if document is None or values is None or sink.worst() is Severity.ERROR:
        return None, sink.diagnostics
    servers: McpFileSource = mcp_file(attrs.evolve(document, values=values))
    written: dict[str, Any] = dict(values[dialect.server_list])
    secrets = DiagnosticSink()
    for server in servers.servers:
        clean = reference_secrets(server, secrets, dialect)
        entry = written[server.name]
        written[server.name] = {
            key: _plain(getattr(clean, key)) if key in _FIELDS else value for key, value in entry.items()
        }
    inputs = find_inputs(folder)
    inputs = attrs.evolve(inputs, mcp_files=tuple(dict.fromkeys([MCP_FILE, *inputs.mcp_files])))
    files = {
        MCP_FILE: json.dumps({"mcpServers": written}, indent=2, ensure_ascii=False) + "\n",
        WORKSPACE_FILE: tomlkit.dumps(settings_document(name_of_folder(folder), inputs)),
    }
    notes = [
        f"{found.message}: a reference is in its place, and `octoc env` lists its variable"
        for found in secrets.diagnostics
    ]
    return Migration(files=files, notes=tuple(notes)), sink.diagnostics


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
