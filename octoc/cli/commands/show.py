"""`octoc show`: the content of the bundle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from octoc.cli.options import SECTIONS, bundle_option, completes, format_options, trust_option, workspace_option

if TYPE_CHECKING:
    from octoc.runtime import Runtime
    from octoc.runtime.catalog.session_tools import SessionTools

Entries = list[dict[str, Any]]

_DEFAULT = ("agents", "tools", "tokens")
_LEAVE_OUT = (
    "to leave tools out: `exclude_tools` of their server, or what its client calls it, such as `disabled_tools` of "
    "Codex; docs/workspace.md, *Leave tools out*, has all ways"
)


@click.command
@click.argument("words", nargs=-1, metavar="[SECTION...|tool TOOL...]", shell_complete=completes("show"))
@workspace_option
@bundle_option
@trust_option
@click.option(
    "--agent",
    metavar="NAME",
    shell_complete=completes("agents"),
    help="Only this agent, with the tools that it may see and call. Default: every agent.",
)
@click.option(
    "--cache",
    is_flag=False,
    flag_value="",
    metavar="[AGENT]",
    shell_complete=completes("agents"),
    help="The part of the tool block that a prompt cache keeps, for this agent or for each.",
)
@click.option(
    "--context",
    is_flag=False,
    flag_value="",
    metavar="[AGENT]",
    shell_complete=completes("agents"),
    help="The context of this agent's model at the start, and its cost. Default: supervisor.",
)
@format_options("text", "json")
def command(
    words: tuple[str, ...],
    workspace: Path | None,
    bundle: Path | None,
    trust: Path | None,
    agent: str | None,
    cache: str | None,
    context: str | None,
    output_format: str,
) -> int:
    """Show what is in the bundle.

    Each SECTION is one of capabilities, agents, skills, servers, tools, resources, prompts, routing, tokens. Default:
    agents, tools and tokens; with --json all. routing has the needs that capabilities meet, and if the gate learned
    from them.

    `octoc show tool SERVER/TOOL` shows the description, arguments and tokens of one tool, and which agents may call it
    and how. A name or alias that only one tool has works too. `octoc show tool 'SERVER/*'` lists the server's tools,
    and which the server states to be read-only or destructive.

    --cache shows the tokens and bytes of the tool block that stay unchanged between turns, what each
    activation appends, and what it evicts. --context shows each part of the model's context and its source.
    """
    from octoc.cli.workspace import target_of, with_runtime

    if words[:1] == ("tool",):
        from octoc.cli.show_tool import show_tools

        if len(words) == 1 or cache is not None or context is not None:
            raise click.UsageError("expected a tool: octoc show tool SERVER/TOOL")
        return show_tools(target_of(bundle, workspace, trust), words[1:], agent, output_format)
    sections = tuple(map(_section, words))
    if cache is not None:
        from octoc.cli.show_cache import show_cache

        if sections:
            raise click.UsageError("--cache takes no sections")
        return show_cache(target_of(bundle, workspace, trust), cache or agent, output_format)
    if context is not None:
        from octoc.cli.show_context import show_context

        if sections:
            raise click.UsageError("--context takes no sections")
        return show_context(target_of(bundle, workspace, trust), context or agent or "supervisor", output_format)
    asked = sections or (SECTIONS if output_format == "json" else _DEFAULT)

    async def work(runtime: Runtime) -> dict[str, Any]:
        found: dict[str, Any] = {"name": runtime.bundle.name, "octoc_version": runtime.bundle.octoc_version}
        return found | {section: _READERS[section](runtime, agent) for section in dict.fromkeys(asked)}

    found = with_runtime(target_of(bundle, workspace, trust), work)
    if output_format == "json":
        import json

        click.echo(json.dumps(found, indent=2))
    else:
        _print(found)
    return 0


def _section(word: str) -> str:
    """Return a word that is a section. Raises: click.UsageError."""
    if word in SECTIONS:
        return word
    from octoc.diagnostics.render.text import escape
    from octoc.diagnostics.suggest import did_you_mean

    hint = did_you_mean(word, SECTIONS) or f"expected one of {', '.join(SECTIONS)}, or `tool` and a tool"
    raise click.UsageError(f"there is no section `{escape(word)}`: {hint}")


def _capabilities(runtime: Runtime, agent: str | None) -> Entries:
    if agent is None:
        found = [
            (entry, [index for grant in entry.grants for index in grant.tools]) for entry in runtime.bundle.capabilities
        ]
    else:
        scope = runtime.owners_session(agent).state.tools.scope
        found = [(entry, list(scope.owned(name))) for name, entry in scope.entries.items()]
    return [
        {
            "name": entry.name,
            "provider": entry.provider,
            "title": entry.title,
            "description": entry.description,
            "domains": list(entry.domains),
            "triggers": list(entry.triggers),
            "servers": sorted({grant.server for grant in entry.grants}),
            "tools": [_id(runtime, index) for index in tools],
            "requires_env": list(entry.requires_env),
        }
        for entry, tools in found
    ]


def _agents(runtime: Runtime, agent: str | None) -> Entries:
    return [
        {
            "name": entry.name,
            "kind": entry.kind,
            "type": entry.type,
            "domain": entry.domain,
            "title": entry.title,
            "description": entry.description,
            "tools": len(entry.registry.tools),
            "direct": len(entry.registry.direct),
            "proxy": entry.registry.searches,
            "capabilities": list(entry.registry.capabilities),
            "boot": list(entry.registry.boot),
            "host_tools": list(entry.registry.host_tools),
        }
        for entry in (runtime.owners_session(name).agent for name in _agent_names(runtime, agent))
    ]


def _skills(runtime: Runtime, agent: str | None) -> Entries:
    from octoc.cli.show_skills import list_skills

    return list_skills(runtime, agent)


def _servers(runtime: Runtime, agent: str | None) -> Entries:
    tools, reached = Counter(tool.server for tool in runtime.bundle.tools), frozenset(runtime.servers)
    if agent is not None:
        surface = runtime.owners_session(agent).state.tools
        tools = Counter(runtime.bundle.tools[index].server for index in surface.known())
        brought = (grant.server for entry in surface.scope.entries.values() for grant in entry.grants)
        reached = frozenset((*tools, *surface.unlisted_servers(), *brought))
    return [
        {
            "name": entry.name,
            "transport": entry.transport,
            "listed": entry.listed,
            "tools": tools[entry.name],
        }
        for entry in runtime.bundle.servers
        if entry.name in reached
    ]


def _routing(runtime: Runtime, agent: str | None) -> Entries:
    from octoc.cli.show_routing import list_needs

    return list_needs(runtime, agent)


def _tools(runtime: Runtime, agent: str | None) -> Entries:
    from octoc.cli.show_tool import tokens_of

    if agent is None:
        named = [(index, tool.alias) for index, tool in enumerate(runtime.bundle.tools)]
    else:
        surface = runtime.owners_session(agent).state.tools
        named = [(index, surface.alias(index)) for index in sorted(surface.known())]
    entries = ((index, alias, runtime.bundle.tools[index]) for index, alias in named)
    return [
        {
            "name": entry.name,
            "server": entry.server,
            "id": _id(runtime, index),
            "alias": alias,
            "description": entry.description,
            "tokens": tokens_of(runtime, index, alias),
            "counter": runtime.counter.name,
        }
        for index, alias, entry in entries
    ]


def _resources(runtime: Runtime, agent: str | None) -> Entries:
    """Resources and templates: those of an agent, or all of the bundle with the server's own names."""
    return [
        {"server": server, "uri": name, "name": wire.get("name", ""), "description": wire.get("description", "")}
        for kind, server, name, wire in _offers(runtime, agent)
        if kind != "prompt"
    ]


def _prompts(runtime: Runtime, agent: str | None) -> Entries:
    return [
        {"server": server, "name": name, "description": wire.get("description", "")}
        for kind, server, name, wire in _offers(runtime, agent)
        if kind == "prompt"
    ]


def _offers(runtime: Runtime, agent: str | None) -> list[tuple[str, str, str, Mapping[str, Any]]]:
    """Return (kind, server, name, wire object) of each offer."""
    if agent is None:
        return [(offer.kind, offer.server, offer.name, offer.wire) for offer in runtime.opened.offers.offers]
    session = runtime.owners_session(agent)
    return [
        *(("resource", one.server, one.uri, one.wire) for one in session.resources()),
        *(("template", one.server, one.uri_template, one.wire) for one in session.resource_templates()),
        *(("prompt", one.server, one.name, one.wire) for one in session.prompts()),
    ]


def _tokens(runtime: Runtime, agent: str | None) -> dict[str, Any]:
    """Per agent: its tokens at the start with their parts, and those of its prompt with all tools of its registry."""
    from octoc.runtime import tool_text

    unlisted = {server.name for server in runtime.bundle.servers if not server.listed}
    agents = []
    for name in _agent_names(runtime, agent):
        session = runtime.owners_session(name)
        found, tools = session.inspect(), session.state.tools
        sections = {section.name: section.tokens for section in found.sections}
        bound = (tools.scope.shown(index, found.format).tool for index in tools.known())
        count, prompt = session.state.counter.count, sections.get("system prompt", 0)
        agents.append(
            {
                "name": name,
                "counter": found.counter,
                "format": found.format,
                "tools": len(tools.known()),
                "all_tools": prompt + sum(count(tool_text(tool)) for tool in bound),
                "at_the_start": found.tokens,
                "prompts": prompt + sections.get("servers prompt", 0),
                "octoc_tools": sections.get("octoc's tools", 0),
                "direct_tools": sections.get("direct tools", 0),
                "without_snapshot": len(unlisted.intersection(_servers_of(tools))),
            }
        )
    return {"agents": agents}


def _servers_of(tools: SessionTools) -> set[str]:
    """Return the servers without a snapshot, and those of capabilities, that an agent has or may get."""
    return {*tools.unlisted_servers(), *(grant.server for one in tools.scope.entries.values() for grant in one.grants)}


_READERS: dict[str, Callable[[Runtime, str | None], Any]] = {
    "capabilities": _capabilities,
    "agents": _agents,
    "skills": _skills,
    "servers": _servers,
    "tools": _tools,
    "resources": _resources,
    "prompts": _prompts,
    "routing": _routing,
    "tokens": _tokens,
}


def _agent_names(runtime: Runtime, agent: str | None) -> Sequence[str]:
    return [entry.name for entry in runtime.bundle.agents] if agent is None else [agent]


def _id(runtime: Runtime, index: int) -> str:
    tool = runtime.bundle.tools[index]
    return f"{tool.server}/{tool.name}"


def _print(found: dict[str, Any]) -> None:
    from octoc.cli.tables import one_line, print_table
    from octoc.tokens import AT_THE_START, counter_note, start_title

    columns: dict[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], tuple[str | int, ...]]]] = {
        "capabilities": (
            ("capability", "provider", "triggers", "tools", "domains"),
            lambda e: (e["name"], e["provider"], len(e["triggers"]), len(e["tools"]), " ".join(e["domains"])),
        ),
        "agents": (
            ("agent", "type", "domain", "tools", "direct", "capabilities"),
            lambda e: (e["name"], e["type"] or e["kind"], e["domain"] or "", e["tools"], e["direct"],
                       len(e["capabilities"]) + len(e["boot"])),
        ),
        "skills": (
            ("skill", "why", "used by", "description"),
            lambda e: (e["name"], e["why"], e["used_by"], one_line(e["description"])),
        ),
        "servers": (
            ("server", "transport", "tools", "snapshot"),
            lambda e: (e["name"], e["transport"], e["tools"], "yes" if e["listed"] else "none"),
        ),
        "routing": (
            ("need", "capability", "used", "why"),
            lambda e: (e["need"], e["capability"], "yes" if e["used"] else "no", e["why"]),
        ),
        "tools": (
            ("tool", "tokens", "description"),
            lambda e: (e["id"], e["tokens"], one_line(e["description"])),
        ),
        "resources": (
            ("resource", "server", "description"),
            lambda e: (e["uri"], e["server"], one_line(e["description"])),
        ),
        "prompts": (
            ("prompt", "server", "description"),
            lambda e: (e["name"], e["server"], one_line(e["description"])),
        ),
        "tokens": (
            ("agent", *AT_THE_START, "with all tools bound"),
            lambda e: (e["name"], e["at_the_start"], e["prompts"], e["octoc_tools"], e["direct_tools"], e["all_tools"]),
        ),
    }  # fmt: skip
    sections = [section for section in SECTIONS if section in found]
    for section in sections:
        entries, title = found[section], {"routing": "needs that routing learned from"}.get(section, section)
        if section == "tokens":
            entries = entries["agents"]
            title = start_title(entry["counter"] for entry in entries)
        if section == "tools" and entries:
            title = f"tools, most tokens first {counter_note(entry['counter'] for entry in entries)}"
            entries = sorted(entries, key=lambda entry: -entry["tokens"])
        names, row = columns[section]
        if section == "skills" and not any("why" in entry for entry in entries):  # known for one agent only
            names, row = ("skill", "description"), lambda e: (e["name"], one_line(e["description"]))
        rows = [row(entry) for entry in entries]
        if section == "agents" and any(entry["host_tools"] for entry in entries):
            names = (*names, "host tools")
            rows = [(*cells, " ".join(entry["host_tools"])) for cells, entry in zip(rows, entries, strict=True)]
        if section == "tokens" and any(entry["without_snapshot"] for entry in entries):  # of unknown cost
            names = (*names, "servers without a snapshot")
            rows = [(*cells, entry["without_snapshot"]) for cells, entry in zip(rows, entries, strict=True)]
        print_table(title, names, rows)
        if section == "tools" and entries and len(sections) == 1:
            click.echo(_LEAVE_OUT, err=True)
        if section == "tokens":
            _print_dear(entries)
            if "tools" not in sections:
                click.echo("`octoc show tools` has the tokens of each tool", err=True)
        if section != sections[-1]:
            click.echo()


def _print_dear(agents: Entries) -> None:
    """Say of agents that cost more at the start than with all tools bound why they do not have the tools directly."""
    from octoc.diagnostics.render import escape
    from octoc.lists import some_names

    dear = [entry for entry in agents if entry["at_the_start"] > entry["all_tools"]]
    waiting = [entry["name"] for entry in dear if entry["without_snapshot"]]
    others = [entry["name"] for entry in dear if not entry["without_snapshot"]]
    more = "more tokens at the start than with all tools bound"
    if waiting:
        why = "of servers without a snapshot octoc does not know the cost: run `octoc pin`, then `octoc build`"
        click.echo(escape(f"{more}: {some_names(waiting)}; {why}"), err=True)
    if others:
        click.echo(escape(f"{more}: {some_names(others)}; docs/workspace.md, *Few tools*, has the reasons"), err=True)
