"""The folder of a server's program, in files whose client does not read `cwd`.

Source: Claude Code 2.1.240 and 2.1.330: its form of a program has no `cwd` (issues 17565, 42883 and 54786). Codex
resolves it below the plugin (`core-plugins/src/loader.rs`, November 2026).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.inputs.claude.paths import values_of
from octoc.compiler.inputs.claude.plugin import PLUGIN_FILE
from octoc.compiler.inputs.mcp.codex_plugin import CODEX_PLUGIN_FILE
from octoc.compiler.workspace.paths import WORKSPACE_FILE
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.claude import IGNORED_KEY

_ROOT = re.compile(r"\$\{(?:workspaceFolder|CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT)(?::-[^{}]*)?\}")
_OTHER = re.compile(r"[-/~$\\]|[A-Za-z]:|\w+://")
"""What begins an option, an address, or a path that does not depend on the folder."""


def check_working_folder(name: str, entry: Mapping[str, Any], path: KeyPath, inspection: FileInspection) -> None:
    """Report a `cwd` that the client ignores: a warning where the command names a file that is in that folder alone."""
    project, dialect = inspection.file.path.parent, inspection.file.dialect
    written = _ROOT.sub(".", str(entry["cwd"]))
    is_of_plugin = bool(dialect.beside)
    # octoc itself reads it where a workspace names the file.
    if (not is_of_plugin and os.path.normpath(written) == ".") or (project / WORKSPACE_FILE).is_file():
        return
    if is_of_plugin and _is_codex_s(inspection.file.path):
        return
    named = None if _OTHER.match(written) else _named_in(project / written, entry, project, is_of_plugin=is_of_plugin)
    inspection.report(
        IGNORED_KEY,
        "Claude Code does not read `cwd`: "
        + (
            f"server `{name}` starts in the folder of the session"
            if named is None
            else f"server `{name}` does not find `{named}`"
        ),
        (*path, "cwd"),
        key=True,
        help=None if named is None else f"write `{_from_root(project, written, named, is_of_plugin=is_of_plugin)}`",
        severity=Severity.INFO if named is None else Severity.WARNING,
    )


def _is_codex_s(file: Path) -> bool:
    """Tell whether a plugin's manifest for Codex names the file, and the one for Claude Code names others."""
    codex, claude = (_named_files(file.parent / name) for name in (CODEX_PLUGIN_FILE, PLUGIN_FILE))
    return file.name in codex and bool(claude) and file.name not in claude


def _named_files(manifest: Path) -> frozenset[str]:
    named = values_of(manifest).get("mcpServers")
    paths = named if isinstance(named, list) else [named]
    return frozenset(os.path.normpath(path) for path in paths if isinstance(path, str))


def _named_in(folder: Path, entry: Mapping[str, Any], project: Path, *, is_of_plugin: bool) -> str | None:
    """Return the first file of the command line that is in `folder`, and not in the folder of a session."""
    command, args = entry.get("command"), entry.get("args", ())
    texts = [command] if isinstance(command, str) and "/" in command else []
    texts += [one for one in args if isinstance(one, str)] if isinstance(args, list) else []
    for text in texts:
        if not text or "\0" in text or _OTHER.match(text):
            continue
        if (folder / text).is_file() and (is_of_plugin or not (project / text).exists()):
            return text
    return None


def _from_root(project: Path, written: str, named: str, *, is_of_plugin: bool) -> str:
    path = os.path.relpath(os.path.normpath(project / written / named), project).replace(os.sep, "/")
    return f"${{CLAUDE_PLUGIN_ROOT}}/{path}" if is_of_plugin else path
