"""A rule over shell scripts in command lines: they use variables that the server's environment does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from octoc.compiler.model.build import Build
from octoc.compiler.model.source import ServerSource
from octoc.compiler.resolve.definitions import definitions
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_mcp import UNSET_IN_SHELL
from octoc.plugin.lint import lint_check
from octoc.references import find_references
from octoc.server_environment import is_usual

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash", "ksh"})
_COMMAND_FLAG = re.compile(r"-[a-z]*c")
_NAME = re.compile(r"\$(?P<name>[A-Za-z_][A-Za-z0-9_]*)")
_ASSIGNED = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_][A-Za-z0-9_]*)\+?=")
_BOUND = re.compile(
    r"\b(?:for|select|read|getopts|mapfile|readarray|local|declare|typeset|export|unset)\b(?P<names>[^;|&\n)]*)"
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# `${NAME:=x}` sets a variable, and so can a script that `source` or `eval` runs.
_DEFAULTED = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*):?=")
_ELSEWHERE = re.compile(r"(?:^|[;&|({\s])(?:\.|source|eval)\s|set\s+-a")
_OF_SHELLS = frozenset({
    "PWD", "OLDPWD", "IFS", "PPID", "UID", "EUID", "GID", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "HOSTNAME", "SHLVL",
    "OPTARG", "OPTIND", "OPTERR", "REPLY", "PS1", "PS2", "PS3", "PS4", "FUNCNAME", "PIPESTATUS", "MACHTYPE", "OSTYPE",
    "HOSTTYPE", "GROUPS", "DIRSTACK", "COLUMNS", "LINES", "EPOCHSECONDS", "EPOCHREALTIME", "_",
})  # fmt: skip
_PREFIXES = ("BASH", "ZSH", "KSH")


@lint_check(UNSET_IN_SHELL)
def check_shells(build: Build, sink: DiagnosticSink) -> None:
    """Report variables in a shell script that the server does not get: the shell expands them to an empty text."""
    settings = build.settings
    for definition in definitions(build.sources):
        server = definition.source
        index = _script_of(server)
        if server.disabled or index is None or server.env_file is not None:
            continue
        own = settings.servers.get(server.name)
        inherited = {*settings.runtime.inherit_env, *(() if own is None else own.inherit_env)}
        for start, end, name in _unset(server.args[index], {*server.env, *inherited}):
            sink.report(
                UNSET_IN_SHELL,
                f"`${name}` in `args[{index}]` of server `{server.name}` is a variable that the server does not get",
                at=attrs.evolve(server.place.child("args", index), within=(start, end)),
                help=f'set `{name}` in `env`, or name it in `inherit_env` under `[servers."{server.name}"]`',
            )


def _script_of(server: ServerSource) -> int | None:
    """Return the index of the argument that is the script of a POSIX shell; None without such a script."""
    name = re.split(r"[\\/]", server.command or "")[-1].lower()
    if name not in _SHELLS:
        return None
    for index, word in enumerate(server.args):
        if _COMMAND_FLAG.fullmatch(word):
            return index + 1 if index + 1 < len(server.args) else None
        if not word.startswith("-"):
            return None  # the name of a script file
    return None


def _unset(script: str, given: set[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and name of the first use of each variable that is not in `given` and that nothing sets."""
    if _ELSEWHERE.search(script):
        return
    declared = {word for match in _BOUND.finditer(script) for word in _WORD.findall(match["names"])}
    assigned = {match["name"] for pattern in (_ASSIGNED, _DEFAULTED) for match in pattern.finditer(script)}
    seen = {*given, *declared, *assigned, *_OF_SHELLS}
    references = [reference.span for reference in find_references(script)]
    for start, end, name in _used(script):
        if name in seen or is_usual(name) or name.startswith(_PREFIXES):
            continue
        if any(first <= start < last for first, last in references):
            continue
        seen.add(name)
        yield start, end, name


def _used(script: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and name of each `$NAME` that a shell expands: not escaped and not in single quotes."""
    place, in_double = 0, False
    while place < len(script):
        char = script[place]
        if char == "\\":
            place += 2
        elif char == "'" and not in_double:
            closing = script.find("'", place + 1)
            place = len(script) if closing < 0 else closing + 1
        elif match := _NAME.match(script, place):
            yield match.start(), match.end(), match["name"]
            place = match.end()
        elif char == "$":
            place += 2  # `$$` and `$1` are the shell's own
        else:
            in_double ^= char == '"'
            place += 1
