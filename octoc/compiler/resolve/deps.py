"""Dependencies of the capabilities in use: one for each name, with the script of a tap."""

from __future__ import annotations

import re
from collections.abc import Iterable

from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Dependency
from octoc.compiler.resolve.capabilities import ChosenProvider

_HEADER_LINES = 10
_CHECK = re.compile(r"#\s*check:\s*(\S.*)", re.IGNORECASE)
_LOOKUP = re.compile(r"(?:command\s+-v|which|type(?:\s+-[pP])?|hash)\s+")
_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def dependencies(chosen: Iterable[ChosenProvider], build: Build) -> tuple[Dependency, ...]:
    """Return the dependencies of the chosen providers, by name.

    If two taps have a script of one name, the script of the tap with precedence serves both, and runs once.

    Source: Octomind's tap, `[deps]`.
    """
    precedence = {tap.name: tap.precedence for tap in build.discovered.taps}
    owners: dict[str, str] = {}
    for choice in chosen:
        tap = choice.source.tap
        for dep in choice.provider.deps:
            owner = owners.setdefault(dep.value, tap)
            if precedence.get(tap, 0) < precedence.get(owner, 0):
                owners[dep.value] = tap
    return tuple(
        _dependency(name, tap, build.documents.scripts.get((tap, name))) for name, tap in sorted(owners.items())
    )


def _dependency(name: str, tap: str, script: str | None) -> Dependency:
    return Dependency(name=name, tap=tap, script=script, program=None if script is None else checked_program(script))


def checked_program(script: str) -> str | None:
    """Return the program that the script's `# check:` line names; None without such a line or a plain name.

    `# check: uv`, `# check: uv --version` and `# check: command -v uv` all name `uv`.
    """
    for line in script.splitlines()[:_HEADER_LINES]:
        match = _CHECK.fullmatch(line.strip())
        if match is not None:
            command = _LOOKUP.sub("", match[1].strip().strip("`"), count=1).split()
            return command[0] if command and _PROGRAM.fullmatch(command[0]) else None
    return None
