"""A rule over paths in a server's command line that other machines may not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Server
from octoc.compiler.model.source import ServerSource
from octoc.compiler.resolve.definitions import DefinitionText, definitions, values_of
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_mcp import ABSOLUTE_PATH
from octoc.plugin.lint import lint_check

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "cmd", "powershell", "pwsh"})
CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
"""Programs that run containers."""
_OF_MACHINE = frozenset({
    "--config", "--env-file", "--file", "--mount", "--project-directory", "--volume", "-f", "-v",
})  # fmt: skip
"""Options of such a program whose values are paths of this machine: mounts, and files of compose."""
_ATTACHED_MOUNT = re.compile(r"-v[/~.$A-Za-z]")
# `/c` and `/s` are switches of Windows' own shell, hence at least three letters or a second part.
_PATH = re.compile(
    r"(?:--?[A-Za-z][A-Za-z0-9-]*=)?(?P<path>/[^/\s:]+/[^\s:]+|/[^/\s:]{3,}|~/\S+|[A-Za-z]:[\\/]\S+|\\\\\S+)"
)
_ON_EVERY_MACHINE = frozenset({
    "/bin/sh", "/bin/bash", "/usr/bin/env", "/dev/null", "/dev/stdin", "/dev/stdout", "/var/run/docker.sock",
    "/tmp",  # noqa: S108  # named, not used
})  # fmt: skip


def has_shell(server: ServerSource | Server) -> bool:
    """Tell whether the command line runs a shell, which replaces `$VAR` itself."""
    words = (server.command or "", *server.args)
    return any(program(word) in _SHELLS for word in words)


@lint_check(ABSOLUTE_PATH)
def check_paths(build: Build, sink: DiagnosticSink) -> None:
    """Report absolute paths in production mode: another machine may not have the same folders."""
    if build.settings.mode != "production":
        return
    for definition in definitions(build.sources):
        server = definition.source
        if server.disabled:
            continue
        for value in values_of(server):
            path = _absolute(value, server)
            if path is not None:
                sink.report(
                    ABSOLUTE_PATH,
                    f"`{value}` of server `{server.name}` is an absolute path, which another machine may not have",
                    at=value.place,
                    help="name a program on the PATH"
                    if value.field == "command"
                    else f"take it from a variable, `{definition.dialect.variable}`"
                    if definition.dialect == OCTOMIND
                    else "begin it with `${workspaceFolder}` or `${userHome}`, or take it from a variable",
                )


def _absolute(value: DefinitionText, server: ServerSource) -> str | None:
    if value.field not in ("command", "args") or (value.field == "args" and " " in value.text.strip()):
        return None
    if is_in_container(value, server):
        return None
    match = _PATH.match(value.text.strip())
    return match["path"] if match is not None and match["path"] not in _ON_EVERY_MACHINE else None


def is_in_container(value: DefinitionText, server: ServerSource) -> bool:
    """Tell whether an argument of a container's command is for the container, where this machine has no paths."""
    if value.field != "args" or value.index is None or program(server.command or "") not in CONTAINERS:
        return False
    before = server.args[value.index - 1] if value.index else ""
    of_machine = before in _OF_MACHINE or value.text.partition("=")[0] in _OF_MACHINE
    return not of_machine and not _ATTACHED_MOUNT.match(value.text)


def texts_of(server: ServerSource) -> Iterator[str]:
    """Yield every name and value of a definition without its place, for a fast test before a slow one."""
    waiting: list[object] = [server.name, *server.reached.values()]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list | tuple):
            waiting += one
        elif isinstance(one, dict):
            waiting += (*one, *one.values())


def program(word: str) -> str:
    """Return the name of a program without its folder and `.exe`, in lower case."""
    return re.split(r"[\\/]", word)[-1].lower().removesuffix(".exe")
