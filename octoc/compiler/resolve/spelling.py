"""Read the spellings of a tool: `server/tool`, `server:tool`, `server__tool`, `mcp__server__tool`, and globs."""

from __future__ import annotations

from collections.abc import Mapping

from octoc.aliases import sanitize
from octoc.compiler.model.resolved import Server
from octoc.names import glob_covers


def qualified(text: str, servers: Mapping[str, Server]) -> tuple[str, str] | None:
    """Read `server/tool`, `server:tool`, `server__tool`, `mcp__server__tool`, `mcp__server`; a `*` may end each."""
    for separator in ("/", ":"):
        server, found, glob = text.partition(separator)
        if found and server in servers:
            return server, glob or "*"
    plain = text.removeprefix("mcp__")
    # The longest server first: `a__b` must not be read as server `a`.
    for name in sorted(servers, key=lambda name: (-len(name), name)):
        written = sanitize(name)
        if plain == written and plain != text:
            return name, "*"
        if plain.startswith(f"{written}__"):
            glob = plain[len(written) + 2 :]
            return name, _original(glob, servers[name])
    return None


def _original(glob: str, server: Server) -> str:
    """Return the server's own spelling of a sanitised tool name, else the text as it is."""
    return next((tool.name for tool in server.tools if sanitize(tool.name) == glob), glob)


def stem(glob: str) -> str:
    """Return the text that a glob matches before any `*` at its end."""
    return glob.removesuffix("*")


def meet(one: str, other: str) -> str | None:
    """Return the glob for the names that both globs match: the narrower of the two, or None if they are disjoint."""
    if glob_covers(one, other):
        return other
    return one if glob_covers(other, one) else None
