"""Look up names in tables of scopes: agents, tools, capabilities, skills. An unknown name is an error."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

import attrs

from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Server
from octoc.compiler.model.scopes import DenySource, GrantSource, GroupSource, Reach
from octoc.compiler.resolve.scopes.offers import OfferLookup, ids_of, offer_entries, whole_of
from octoc.compiler.resolve.spelling import qualified
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Rule, Severity
from octoc.diagnostics.rules.resolve import UNKNOWN_SERVER, UNKNOWN_TOOL
from octoc.diagnostics.suggest import did_you_mean, near_names
from octoc.lists import some_names
from octoc.names import ToolId, glob_matches

EVERYTHING = "*"


@attrs.define(kw_only=True)
class NameLookup:
    """The names that tables may use, and the sink that gets unknown ones.

    `disabled` are servers that are switched off: naming a tool of one has no effect and is not a mistake.
    """

    servers: Mapping[str, Server]
    agents: Collection[str]
    capabilities: Collection[str]
    skills: Collection[str]
    sink: DiagnosticSink
    disabled: frozenset[str] = frozenset()
    _tools: dict[str, dict[str, ToolId]] = attrs.field(factory=dict, init=False, repr=False, eq=False)

    def matched(self, named: Located[str], names: Collection[str], rule: Rule, what: str, kind: str) -> tuple[str, ...]:
        """Return the sorted `names` that a name or glob matches; report one without a match.

        Args:
            what: the table for messages, such as `a grant`; `kind`: the kind of thing, such as `agent`.
        """
        found: tuple[str, ...]
        if named.value.endswith("*"):
            found = tuple(sorted(name for name in names if glob_matches(named.value, name)))
        else:
            found = (named.value,) if named.value in names else ()
        if not found:
            self.sink.report(
                rule,
                f"{what} names {kind} `{named.value}`, "
                + ("which matches none" if named.value.endswith("*") else "which is not defined"),
                at=named.place,
                help=_inner_star(named.value) or did_you_mean(named.value.rstrip("*"), names) or _some(kind, names),
                severity=Severity.ERROR,
                fix=renamed(named.place, named.value, names),
            )
        return found

    def reach(self, entry: Located[str], what: str) -> Reach:
        """Return the tools that an entry of `tools` matches; report an entry without a match."""
        text = entry.value
        if text == EVERYTHING:
            return _all_of(self.servers.values())
        named = qualified(text, self.servers)
        if named is None:
            if not self._is_disabled(text):
                self._report_unqualified(entry, what)
            return Reach()
        server, glob = self.servers[named[0]], named[1]
        inner = _inner_star(glob)
        tools = self._matching(server, glob)
        if glob == EVERYTHING and (tools or server.offers):
            return _all_of([server])
        if tools:
            return Reach(tools=tools)
        if not server.listed and inner is None:
            return _all_of([server]) if glob == EVERYTHING else Reach(globs=frozenset({(server.name, glob)}))
        tools_of_server = [f"{server.name}/{tool.name}" for tool in server.tools]
        self.sink.report(
            UNKNOWN_TOOL,
            f"{what} names tool `{text}`, and server `{server.name}` has none that matches",
            at=entry.place,
            help=inner or _near_tool(server, glob) or _some("tool", tools_of_server),
            fix=renamed(entry.place, text, tools_of_server),
        )
        return Reach()

    def _matching(self, server: Server, glob: str) -> frozenset[ToolId]:
        if server.name not in self._tools:
            self._tools[server.name] = {tool.name: ToolId(server.name, tool.name) for tool in server.tools}
        own = self._tools[server.name]
        if not glob.endswith("*"):
            return frozenset((own[glob],)) if glob in own else frozenset()
        return frozenset(tool for name, tool in own.items() if glob_matches(glob, name))

    def offers(self, source: GroupSource | GrantSource | DenySource, what: str) -> dict[Located[str], Reach]:
        """Return the offers of a table's `resources` and `prompts` by entry; report each entry without a match."""
        lookup = OfferLookup(servers=self.servers, sink=self.sink)
        return {
            entry: Reach(tools=frozenset(lookup.reach(entry, kind, what)))
            for kind, entries in offer_entries(source)
            for entry in entries
        }

    def doubtful_offers(
        self, source: GroupSource | DenySource, reach: Mapping[Located[str], Reach]
    ) -> list[Reach | None]:
        """Return what entries withhold beside their matches; None for an entry that may mean any server's offers.

        That is every template that may read a resource of theirs, and all that the server of an entry without a match
        offers.
        """
        lookup = OfferLookup(servers=self.servers, sink=self.sink)
        meant = [
            lookup.doubtful(entry, kind)
            for kind, entries in offer_entries(source)
            for entry in entries
            if not reach[entry]
        ]
        meant += [lookup.readers(entry) for entry in source.resources]
        return [None if one is None else Reach(tools=frozenset(one)) for one in meant]

    def whole_server(self, entry: Located[str]) -> Reach | None:
        """Return all tools of the server that an entry names; None for an unknown server."""
        named = qualified(entry.value, self.servers)
        if named is None:
            return Reach() if self._is_disabled(entry.value) else None
        return _all_of([self.servers[named[0]]])

    def _is_disabled(self, text: str) -> bool:
        return _parts(text)[0] in self.disabled

    def _report_unqualified(self, entry: Located[str], what: str) -> None:
        text = entry.value
        tools = [f"{server.name}/{tool.name}" for server in self.servers.values() for tool in server.tools]
        server, slash, rest = _parts(text)
        if slash and server:
            self.sink.report(
                UNKNOWN_SERVER,
                f"{what} names tool `{text}`, and no server is called `{server}`",
                at=entry.place,
                help=did_you_mean(server, self.servers) or _some("server", self.servers),
                fix=renamed(entry.place, text, [f"{name}{slash}{rest}" for name in self.servers]),
            )
            return
        have = [tool for tool in tools if tool.partition("/")[2] == text]
        self.sink.report(
            UNKNOWN_TOOL,
            f"{what} names tool `{text}` without its server, expected `server/tool`",
            at=entry.place,
            help=f"write `{have[0]}`" if have else did_you_mean(text, tools) or _some("tool", tools),
        )


def _all_of(servers: Collection[Server]) -> Reach:
    tools = (ToolId(server.name, tool.name) for server in servers for tool in server.tools)
    offers = (one for server in servers for one in (*ids_of(server), whole_of(server)))
    return Reach(
        tools=frozenset((*tools, *offers)),
        globs=frozenset((server.name, "*") for server in servers if not server.listed),
    )


def _parts(text: str) -> tuple[str, str, str]:
    """Return the server, the separator and the tool; an empty server and separator if there is no separator."""
    parts = re.split(r"(/|:|__)", text.removeprefix("mcp__"), maxsplit=1)
    return (parts[0], parts[1], parts[2]) if len(parts) > 1 else ("", "", text)


def _near_tool(server: Server, glob: str) -> str | None:
    # Compare bare names: the common prefix of the server would make all of them near.
    near = near_names(glob.rstrip("*"), [tool.name for tool in server.tools], limit=1)
    return f"did you mean `{server.name}/{near[0]}`?" if near else None


def _inner_star(text: str) -> str | None:
    return "only a `*` at the end stands for any text" if "*" in text[:-1] else None


def _some(kind: str, names: Iterable[str], limit: int = 6) -> str:
    shown = sorted(names)
    if not shown:
        return f"the workspace has no {kind}"
    return f"there is {some_names(shown, limit)}"
