"""A rule over command lines that start no server: a container without input, and a whole line in `command`.

Sources: `docker run` and `docker exec` reference (Docker 28), `podman run` manual: without `--interactive` a container
has no standard input. Servers of a client are started without a shell (`StdioClientTransport` of the TypeScript SDK,
VS Code, Codex), except Zed's (`context_server/src/transport/stdio_transport.rs`, November 2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from octoc.compiler.inputs.mcp.zed import ZED
from octoc.compiler.lint.mcp.commands import CONTAINERS, program
from octoc.compiler.model.build import Build
from octoc.compiler.model.source import ServerSource
from octoc.compiler.pin.packages import DOCKER_TAKES
from octoc.compiler.resolve.definitions import Definition, definitions
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_servers import UNUSABLE_COMMAND
from octoc.plugin.lint import lint_check

_BEFORE = frozenset({"sudo", "env", "cmd", "c", "wsl"})
"""Words before the program that is meant; `c` is `cmd /c`."""
_GLOBAL_TAKES = frozenset({"-c", "-H", "-l", "--config", "--connection", "--context", "--host", "--log-level"})
_STARTING = frozenset({"run", "exec"})
_FLAGS = frozenset({
    "--detach", "--init", "--no-healthcheck", "--privileged", "--publish-all", "--quiet", "--read-only", "--replace",
    "--rm", "--tty",
})  # fmt: skip
"""Options that have no value of their own."""
_INTERACTIVE = re.compile(r"-[dtqP]*i[dtiqP]*|--interactive(?:=(?:true|1))?")
_SHORT = re.compile(r"-[dtqP]+|-[ehlmpuvw].+")
"""Flags of one letter, and options of one with their value."""
_LAUNCHERS = frozenset({
    "bash", "bun", "bunx", "cargo", "cd", "cmd", "conda", "deno", "docker", "dotnet", "env", "go", "java", "nerdctl",
    "node", "npm", "npx", "php", "pipx", "pixi", "pnpm", "pnpx", "podman", "poetry", "powershell", "pwsh", "py",
    "python", "python3", "ruby", "sh", "sudo", "ts-node", "tsx", "uv", "uvx", "wsl", "yarn", "zsh",
})  # fmt: skip


_PROGRAM = re.compile(r"[a-z][a-z0-9._-]*")
_WORD = re.compile(r"-{0,2}[a-z0-9@.][\w@.:/=-]*")


@lint_check(UNUSABLE_COMMAND)
def check_starting(build: Build, sink: DiagnosticSink) -> None:
    """Report command lines whose server gets no request, or that name no program."""
    for definition in definitions(build.sources):
        if not definition.source.disabled and definition.source.command:
            _check_line(definition, sink)
            _check_container(definition, sink)


def _check_line(definition: Definition, sink: DiagnosticSink) -> None:
    server = definition.source
    first, *rest = (server.command or "").split()
    if definition.dialect is ZED or not rest or not (first in _LAUNCHERS or _is_line(first, rest)):
        return
    sink.report(
        UNUSABLE_COMMAND,
        f"`command` of server `{server.name}` is a whole command line, and {definition.dialect.client} looks for a "
        "program of this name",
        at=server.place.child("command"),
        help=f"write `{first}` there, and each other word as an element of `args`",
        severity=Severity.INFO if definition.dialect.needs_content else Severity.WARNING,
    )


def _is_line(first: str, rest: Sequence[str]) -> bool:
    """Tell whether these words are a program and its arguments: only paths and names of applications have spaces."""
    return _PROGRAM.fullmatch(first) is not None and all(map(_WORD.fullmatch, rest))


def _check_container(definition: Definition, sink: DiagnosticSink) -> None:
    server = definition.source
    found = _closed(server)
    if found is not None:
        word, place = found
        sink.report(
            UNUSABLE_COMMAND,
            f"`{word}` of server `{server.name}` lacks `-i`, so the server never gets a request",
            at=server.place.child(*place),
            help=f"add `-i` after `{word.partition(' ')[2]}`: without it a container has no standard input",
            severity=Severity.WARNING if definition.dialect.needs_content else None,
        )


def _closed(server: ServerSource) -> tuple[str, tuple[str | int, ...]] | None:
    """Return program and subcommand that start a container without input, and where the subcommand stands."""
    words = ((server.command or ""), *server.args)
    at = next((index for index, word in enumerate(words) if program(word) not in _BEFORE), len(words))
    name = program(words[at]) if at < len(words) else ""
    if name not in CONTAINERS or server.url is not None:
        return None
    at = _after_options(words, at + 1)
    if words[at : at + 1] == ("container",):
        at += 1
    if at >= len(words) or words[at] not in _STARTING or _has_input(words[at + 1 :]):
        return None
    return f"{name} {words[at]}", ("args", at - 1)


def _after_options(words: Sequence[str], at: int) -> int:
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GLOBAL_TAKES else 1
    return at


def _has_input(words: Sequence[str]) -> bool:
    """Tell whether the options before the image ask for standard input; unknown ones may, as far as anyone knows."""
    for word in _options(words):
        is_known = word in DOCKER_TAKES or word in _FLAGS or "=" in word or _SHORT.fullmatch(word)
        if _INTERACTIVE.fullmatch(word) or not is_known:
            return True
    return "stdin" in words or not words


def _options(words: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        yield words[at]
        at += 2 if words[at] in DOCKER_TAKES else 1
