"""A rule over scripts of the project that a server's command runs, and that are not there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from octoc.compiler.inputs.claude.paths import is_left_out, is_missing_above, is_users_own
from octoc.compiler.inputs.mcp.claude import CLAUDE
from octoc.compiler.inputs.mcp.claude_plugin import OTHER_PLUGIN, PLUGIN
from octoc.compiler.inputs.mcp.cursor import CURSOR
from octoc.compiler.inputs.mcp.scripts import program_in, script_in
from octoc.compiler.inputs.mcp.vscode import VSCODE
from octoc.compiler.lint.mcp.commands import program
from octoc.compiler.model.build import Build
from octoc.compiler.model.source import ServerSource
from octoc.compiler.policy.examples import is_example
from octoc.compiler.workspace.paths import file_at
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.diagnostics.suggest import near_miss, slips_of
from octoc.plugin.lint import lint_check

# Source: Claude Code, MCP configuration; Visual Studio Code, MCP configuration reference (`cwd`); Cursor, MCP.
_STARTED_IN_PROJECT = frozenset({CLAUDE, CURSOR, VSCODE})
"""Dialects of clients that start a server in the project's folder."""
_MAX_DOCKERFILES = 5
_MAX_CHARACTERS = 100_000
_OF_PLUGINS = frozenset({PLUGIN, OTHER_PLUGIN})
_INTERPRETERS = frozenset({
    "bash", "bun", "node", "perl", "php", "python", "python3", "ruby", "sh", "ts-node", "tsx", "zsh",
})  # fmt: skip


@lint_check(NAMED_FILE_MISSING)
def check_scripts(build: Build, sink: DiagnosticSink) -> None:
    """Report a script below the project's folder that is in neither that folder nor one above it.

    Git does not have what builds make and what it ignores, so nothing is known of those.
    """
    for file in build.sources.mcp_files:
        path = file_at(build.discovered.root, file.place.file)
        project = file.dialect.project_of(path)
        if file.dialect not in _STARTED_IN_PROJECT | _OF_PLUGINS or project is None or is_example(file.place.file):
            continue
        folder = Path(project)
        for server in file.servers if not is_users_own(folder) else ():
            if not server.disabled and (near := _misspelt(server, folder, build.discovered.root)) is not None:
                sink.report(
                    NAMED_FILE_MISSING,
                    f"server `{server.name}` runs `{near[0]}`, which is not there",
                    at=server.place.child("command"),
                    help=f"did you mean `{near[1]}`?",
                    severity=Severity.WARNING,
                )
                continue
            if file.dialect in _OF_PLUGINS:
                continue
            for index, script in _scripts(server) if not (server.disabled or server.cwd) else ():
                if is_absent(folder, script, build.discovered.root):
                    sink.report(
                        NAMED_FILE_MISSING,
                        f"server `{server.name}` runs `{script}`, which is not there",
                        at=server.place.child("command") if index is None else server.place.child("args", index),
                        help=f"{file.dialect.client} starts the server in the project's folder: add the file there, "
                        "or correct its path",
                        severity=Severity.INFO if _is_copied(path) else Severity.WARNING,
                    )


def _misspelt(server: ServerSource, folder: Path, top: Path) -> tuple[str, str] | None:
    """Return the program that a command names, and the one beside it that is meant; None if no name is near.

    Builds make programs, so that only a slip of one that is there is sure to be missing.
    """
    path = program_in(server.command or "")
    if path is None or server.cwd not in (None, ".", "./") or (folder / path).exists():
        return None
    beside = (folder / path).parent
    try:
        names = [one.name for one in beside.iterdir() if one.suffix == Path(path).suffix] if beside.is_dir() else []
    except OSError:
        return None
    name = PurePosixPath(path).name
    meant = near_miss(name, names) or next(iter(slips_of(name, names)), None)
    if meant is None or is_left_out(folder / path, top):
        return None
    return path, PurePosixPath(path).with_name(meant).as_posix()


def _is_copied(config: Path) -> bool:
    """Tell whether an image gets the file of servers: its Dockerfile copies it to where the scripts are."""
    line = re.compile(rf"^\s*(?:COPY|ADD)\s.*{re.escape(config.name)}", re.MULTILINE | re.IGNORECASE)
    for beside in sorted(config.parent.glob("*ockerfile*"))[:_MAX_DOCKERFILES]:
        try:
            with beside.open(encoding="utf-8", errors="replace") as stream:
                if line.search(stream.read(_MAX_CHARACTERS)):
                    return True
        except OSError:
            continue
    return False


def is_absent(folder: Path, script: str, top: Path) -> bool:
    """Tell whether a clone of the project in `folder` surely lacks `script`."""
    return is_missing_above(folder, script, top) and not is_left_out(Path(os.path.normpath(folder / script)), top)


def _scripts(server: ServerSource) -> Iterator[tuple[int | None, str]]:
    """Yield the script that a command line runs: the index of its argument, None for the command, and its path."""
    script = script_in(server.command or "")
    if script is not None:
        yield None, script
    elif program(server.command or "") in _INTERPRETERS and server.args:
        script = script_in(server.args[0])
        if script is not None:
            yield 0, script
