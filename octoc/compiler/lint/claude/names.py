"""Names in permission rules and in agents' tools: servers, their tools, agents and skills.

A name that is not in the repository may be one of a user, a plugin or a connector. Only the files that `--user` reads
tell that a server does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from octoc.aliases import sanitize
from octoc.compiler.inputs.claude.permissions import Permission, parse
from octoc.compiler.lint.near_servers import near_servers
from octoc.compiler.lint.workspace import LintRun
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Server
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.claude import PERMISSION_WITHOUT_EFFECT
from octoc.diagnostics.rules.resolve import UNKNOWN_SERVER, UNKNOWN_TOOL
from octoc.diagnostics.suggest import did_you_mean, slips_of
from octoc.lists import one_of
from octoc.plugin.lint import lint_check


@lint_check(UNKNOWN_TOOL, UNKNOWN_SERVER, PERMISSION_WITHOUT_EFFECT)
def check_names_of_permissions(workspace: LintRun, sink: DiagnosticSink) -> None:
    """Report rules on tools that a server lacks, on unknown servers, and on slips of agents and skills."""
    if not workspace.sources.permissions:
        return
    servers = _by_name(workspace.servers)
    user = workspace.user
    agents = {agent.name for agent in workspace.resolved.agents} | (user.agents if user else frozenset())
    skills = {skill.source.name for skill in workspace.resolved.skills} | (user.skills if user else frozenset())
    named = {"Agent": agents, "Task": agents, "Skill": skills}
    for source in workspace.sources.permissions:
        for entry in source.rules:
            rule = parse(entry.value)
            if rule is None:
                continue
            if rule.server is not None:
                _check_server(rule, entry, servers, workspace, sink)
            elif rule.specifier is not None:
                _check_slip(rule.specifier, entry, named.get(rule.tool, frozenset()), sink)


@lint_check(UNKNOWN_SERVER)
def check_servers_of_agents(workspace: LintRun, sink: DiagnosticSink) -> None:
    """Report tools of agents on servers that neither the project nor the user defines."""
    if workspace.user is None:
        return
    servers = _by_name(workspace.servers)
    for agent in workspace.sources.agents:
        for entry in agent.tools or ():
            rule = parse(entry.value)
            if rule is not None and rule.server is not None:
                _report_server(rule.server, entry, servers, workspace, sink)


def _by_name(servers: Iterable[Server]) -> dict[str, Server]:
    return {sanitize(server.name): server for server in servers}


def _check_server(
    rule: Permission,
    entry: Located[str],
    servers: Mapping[str, Server],
    workspace: LintRun,
    sink: DiagnosticSink,
) -> None:
    server = servers.get(rule.server or "")
    if server is None:
        _report_server(rule.server or "", entry, servers, workspace, sink)
        return
    tool = rule.tool.partition("__")[2].partition("__")[2]
    if server.snapshot is None or not tool or "*" in tool:
        return
    recorded = {sanitize(one.name) for one in server.snapshot.listing.tools}
    if tool not in recorded:
        sink.report(
            UNKNOWN_TOOL,
            f"rule `{entry.value}` names a tool that server `{server.name}` does not have",
            at=entry.place,
            help=did_you_mean(tool, recorded),
            severity=Severity.WARNING,
        )


def _report_server(
    name: str, entry: Located[str], servers: Mapping[str, Server], workspace: LintRun, sink: DiagnosticSink
) -> None:
    if "*" in name or name in servers or workspace.user is None or workspace.user.may_have(name):
        return
    if near_servers(name, {server.name for server in servers.values()}):
        return  # reported without the user's files, too
    sink.report(
        UNKNOWN_SERVER,
        f"`{entry.value}` names server `{name}`, which neither this project nor the user defines",
        at=entry.place,
        help=did_you_mean(name, (*servers, *workspace.user.servers)),
        severity=Severity.WARNING,
        subject=f"{entry.place.file}:{name}",
    )


def _check_slip(name: str, entry: Located[str], known: Iterable[str], sink: DiagnosticSink) -> None:
    # `Skill(name:*)` is of each skill whose name begins so.
    beginning = name.removesuffix(" *")
    # `folder:name` is a command in a folder of commands, or a skill of a plugin.
    near = slips_of(beginning, [one for one in known if (":" in one) == (":" in beginning)])
    if near and name not in known and not (beginning != name and any(one.startswith(beginning) for one in known)):
        sink.report(
            PERMISSION_WITHOUT_EFFECT,
            f"rule `{entry.value}` names nothing here",
            at=entry.place,
            help=f"did you mean {one_of(near)}?",
        )
