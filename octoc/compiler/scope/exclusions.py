"""Read an agent's `disallowedTools` for servers with and without recorded tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import attrs

from octoc.aliases import sanitize
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Agent, Server
from octoc.compiler.scope.fleet import Fleet
from octoc.compiler.scope.globs import Globs, uncovered
from octoc.compiler.scope.hosts import HOST_TOOLS, host_name
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import UNMATCHED_EXCLUSION
from octoc.diagnostics.suggest import did_you_mean, slips_of
from octoc.lists import some_names
from octoc.names import ToolId, glob_matches

FOREIGN = ("plugin_", "claude_ai_")
"""Prefixes of servers that a plugin or a connector of the client defines; no workspace defines them."""
_MCP = "mcp__"
_PARTS = re.compile(r"/|:|__")


@attrs.frozen(kw_only=True)
class Exclusions:
    """The excluded tools of an agent: recorded tools, globs of unlisted servers, and names of the host's tools.

    A glob matches a tool's own name, or its name in a model API.
    """

    tools: frozenset[ToolId] = frozenset()
    globs: Globs = frozenset()
    hosts: frozenset[str] = frozenset()

    def left_of(self, globs: Globs) -> Globs:
        """Return the globs of unlisted servers that can match a tool that is not excluded."""
        return uncovered(globs, self.globs)


NOTHING = Exclusions()


def exclusions_of(agent: Agent, fleet: Fleet, sink: DiagnosticSink) -> Exclusions:
    """Return the tools that the agent's `disallowedTools` exclude; report each entry that excludes nothing.

    A misspelled entry excludes the nearest names, so that a mistake never gives an agent a tool.
    """
    if not agent.source.disallowed_tools:
        return NOTHING
    servers = fleet.servers
    tools: set[ToolId] = set()
    globs: set[tuple[str, str]] = set()
    foreign: list[Located[str]] = []
    for entry in agent.source.disallowed_tools:
        targets = _targets(_without_inner_star(entry, agent, sink), servers)
        if not _is_in_force(entry.value, targets, servers):
            near = _mistaken(entry, agent, fleet, sink)
            if near is None and all(servers[name].listed for name, _ in targets):
                foreign.append(entry)
            targets += near or []
        for name, glob in targets:
            tools.update(ToolId(name, tool.name) for tool in servers[name].tools if is_excluded(tool.name, (glob,)))
            if not servers[name].listed:
                globs.add((name, glob))
    if foreign:
        _report_foreign(foreign, agent, sink)
    hosts = frozenset(host_name(entry.value) for entry in agent.source.disallowed_tools)
    return Exclusions(tools=frozenset(tools), globs=frozenset(globs), hosts=hosts)


def excluded_servers(agent: Agent, servers: Mapping[str, Server]) -> frozenset[str]:
    """Return the servers of which the agent's `disallowedTools` exclude every tool, and so every offer."""
    targets = (target for entry in agent.source.disallowed_tools for target in _targets(entry.value, servers))
    return frozenset(name for name, glob in targets if glob == "*")


def is_excluded(tool: str, globs: Iterable[str]) -> bool:
    """Tell whether one of the globs excludes a tool of this name, as its server or a model API spells it."""
    spelt = sanitize(tool)
    return any(glob_matches(glob, tool) or glob_matches(glob, spelt) for glob in globs)


def _targets(text: str, servers: Iterable[str]) -> list[tuple[str, str]]:
    """Return (server, glob) for every reading of an entry: `a__b__c` is a tool of `a` and one of `a__b`."""
    named = [(name, glob) for name in servers if (glob := _glob_on(text, name)) is not None]
    if named or text.startswith(_MCP) or "/" in text:
        return named
    return [(name, text) for name in servers]


def _glob_on(text: str, server: str) -> str | None:
    """Return the glob over a server's tools that an entry means if it names the server, None otherwise."""
    for separator in "/:":
        head, found, glob = text.partition(separator)
        if found and head == server:
            return glob or "*"
    plain, spelt = text.removeprefix(_MCP), sanitize(server)
    if plain.startswith(f"{spelt}__"):
        return plain[len(spelt) + 2 :] or "*"
    if plain == text:
        return None
    whole = plain == spelt or (plain.endswith("*") and f"{spelt}__".startswith(plain[:-1]))
    return "*" if whole else None


def _is_in_force(text: str, targets: Iterable[tuple[str, str]], servers: Mapping[str, Server]) -> bool:
    """Tell whether an entry excludes a recorded tool, one of the host, or a future tool of a server that it names."""
    if host_name(text) != text or text in HOST_TOOLS:
        return True
    return any(
        any(is_excluded(tool.name, (glob,)) for tool in servers[name].tools)
        or (not servers[name].listed and _glob_on(text, name) is not None)
        for name, glob in targets
    )


def _mistaken(entry: Located[str], agent: Agent, fleet: Fleet, sink: DiagnosticSink) -> list[tuple[str, str]] | None:
    """Report a mistaken entry and return the nearest tools; return None if the entry may be right."""
    text, servers = entry.value, fleet.servers
    named = [name for name in servers if _glob_on(text, name) is not None]
    if named:
        known = [f"{name}/{tool.name}" for name in named for tool in servers[name].tools]
        _report(entry, agent, f"server {some_names(named)} has no such tool", did_you_mean(text, known), sink)
        return [(name, "*") for name in named]
    plain = text.removeprefix(_MCP)
    head = _PARTS.split(plain, maxsplit=1)[0]
    if text.startswith(_MCP) or head != plain:
        if plain.startswith(FOREIGN):
            return None
        near, is_known = slips_of(head, servers), True
        targets = [(name, "*") for name in near]
        why = f"no server is called `{head}`"
    else:
        by_name: dict[str, list[tuple[str, str]]] = {name: [] for name in HOST_TOOLS}
        for tool in fleet.index:
            by_name.setdefault(tool.tool, []).append((tool.server, tool.tool))
        head, near = text, slips_of(text, by_name)
        targets = [target for name in near for target in by_name[name]]
        why, is_known = "no tool is called that", all(server.listed for server in servers.values())
    if not near and (agent.source.tap is None or not is_known):
        return None
    _report(entry, agent, why, did_you_mean(head, near), sink)
    return targets


def _report_foreign(foreign: Sequence[Located[str]], agent: Agent, sink: DiagnosticSink) -> None:
    """Report entries that match nothing here, once for each agent: clients ignore such entries too."""
    names = some_names([one.value for one in foreign], 3)
    verb = "matches" if len(foreign) == 1 else "match"
    sink.report(
        UNMATCHED_EXCLUSION,
        f"{names} in `disallowedTools` of agent `{agent.name}` {verb} nothing here",
        at=foreign[0].place,
        help="nothing to do if a plugin, a connector or the user's own settings bring it",
        severity=Severity.INFO,
    )


def _report(entry: Located[str], agent: Agent, why: str, advice: str | None, sink: DiagnosticSink) -> None:
    sink.report(
        UNMATCHED_EXCLUSION,
        f"`{entry.value}` in `disallowedTools` of agent `{agent.name}` matches nothing: {why}",
        at=entry.place,
        help=advice or "delete it, or name a tool that exists",
    )


def _without_inner_star(entry: Located[str], agent: Agent, sink: DiagnosticSink) -> str:
    """Return an entry cut after its first `*`, so that it excludes more; report the cut."""
    text = entry.value
    stem, star, rest = text.partition("*")
    if not rest or host_name(text) != text:
        return text
    sink.report(
        UNMATCHED_EXCLUSION,
        f"`{text}` in `disallowedTools` of agent `{agent.name}` is read as `{stem}*`",
        at=entry.place,
        help="only a `*` at the end stands for any text: name each tool, or what their names begin with",
    )
    return stem + star
