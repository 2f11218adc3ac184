"""Rules over patterns whose effect differs once Octomind merges capabilities into an agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import attrs

from octoc.compiler.lint.taps.lookup import SHOWN, defined_server, providers_of, server_of
from octoc.compiler.lint.taps.merge import MergedPattern, MergedRole, dynamic_filter, merge_role, static_filter
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Agent, Server
from octoc.compiler.model.source import ProviderSource
from octoc.diagnostics.model import DiagnosticSink, Edit, Fix, Locator, Place
from octoc.diagnostics.rules.lint_taps import BARE_TOOL_NAME, MERGE_DIFFERS
from octoc.lists import some_names
from octoc.names import ToolPattern, any_glob_matches
from octoc.plugin.lint import lint_check


@attrs.frozen(kw_only=True)
class _Loss:
    """The patterns that an agent's merge applies to a server of which the capability alone grants every tool."""

    agent: Agent
    culprit: MergedPattern
    reaching: tuple[MergedPattern, ...]


@lint_check(MERGE_DIFFERS)
def check_merge(build: Build, sink: DiagnosticSink) -> None:
    """Report a server of which Octomind grants every tool with a capability alone, and fewer tools when merged."""
    providers, servers = providers_of(build), server_of(build)
    losses: dict[tuple[str, str, bool], list[_Loss]] = {}
    for agent, role in _roles(build, providers):
        for capability in agent.capabilities:
            provider = providers.get(capability)
            for name in _referenced(provider):
                if provider is None or dynamic_filter(provider, name) is not None:
                    continue
                reaching = static_filter(role, name)
                if reaching is not None:
                    kept = _usable(
                        reaching, defined_server(servers, role.servers[name]) if name in role.servers else None
                    )
                    loss = _Loss(agent=agent, culprit=(reaching or role.patterns)[0], reaching=reaching)
                    losses.setdefault((capability, name, kept), []).append(loss)
    for (capability, name, is_usable), of_pair in losses.items():
        _report_loss(capability, name, providers[capability], of_pair, is_usable=is_usable, sink=sink)


@lint_check(MERGE_DIFFERS)
def check_own_servers(build: Build, sink: DiagnosticSink) -> None:
    """Report a server that a manifest defines and whose tools the patterns of its capabilities all filter out."""
    providers, servers = providers_of(build), server_of(build)
    for agent, role in _roles(build, providers):
        for reference in agent.source.server_refs:
            name = reference.value
            reaching = static_filter(role, name)
            # A manifest with patterns of its own filters its servers on purpose.
            if reaching is None or agent.source.allowed_tools or name not in role.servers:
                continue
            if _usable(reaching, defined_server(servers, role.servers[name])):
                continue
            culprit = (reaching or role.patterns)[0]
            sink.report(
                MERGE_DIFFERS,
                f"agent `{agent.name}` defines server `{name}`, and has none of its tools once Octomind merges "
                f"capability `{culprit.owner}` into it",
                at=reference.place,
                related={f"pattern `{culprit.located.value}` makes the merged list": culprit.located.place},
                help=f'write `allowed_tools = ["{name}:*"]` beside it',
            )


@lint_check(BARE_TOOL_NAME)
def check_bare_names(build: Build, sink: DiagnosticSink) -> None:
    """Report the bare patterns of a capability that Octomind merges into agents with several servers."""
    providers = providers_of(build)
    exposed: dict[str, list[tuple[Agent, MergedRole]]] = {}
    for agent, role in _roles(build, providers):
        if len(role.server_refs) > 1:
            for capability in agent.capabilities:
                exposed.setdefault(capability, []).append((agent, role))
    for capability, agents in exposed.items():
        provider = providers.get(capability)
        bare = [p for p in (provider.allowed_tools or ()) if _is_bare(p)] if provider is not None else []
        if provider is None or not bare:
            continue
        own = tuple(_referenced(provider))
        agent, role = agents[0]
        others = [name for name in role.server_refs if name not in own]
        if not others and len(own) < 2:
            continue
        sink.report(
            BARE_TOOL_NAME,
            f"capability `{capability}` has {_patterns(bare)} without a server: Octomind applies "
            f"{'it' if len(bare) == 1 else 'them'} to every server of {_agents([a for a, _ in agents])}",
            at=bare[0].place,
            notes=(f"in `{agent.name}` also to {some_names(others, SHOWN)}",) if others else (),
            help=f"write `{own[0]}:{bare[0].value}`" if own else None,
            fix=_qualified(bare, own[0]) if len(own) == 1 else None,
        )


def _roles(build: Build, providers: dict[str, ProviderSource]) -> Iterator[tuple[Agent, MergedRole]]:
    """Yield each of Octomind's agents that has `capabilities`, with its merged role."""
    for agent in build.resolved.agents:
        if agent.source.kind == "octomind" and agent.capabilities:
            chosen = [(name, providers[name]) for name in agent.capabilities if name in providers]
            yield agent, merge_role(agent.source, chosen)


def _referenced(provider: ProviderSource | None) -> Iterator[str]:
    if provider is not None:
        yield from dict.fromkeys(located.value for located in provider.server_refs or ())


def _usable(reaching: tuple[MergedPattern, ...], server: Server | None) -> bool:
    """Tell whether the patterns may grant a tool of `server`; True for a server without recorded tools."""
    if not reaching:
        return False
    if server is None or not server.listed:
        return True
    globs = [pattern.parsed.glob for pattern in reaching]
    return any(any_glob_matches(globs, tool.name) for tool in server.tools)


def _report_loss(
    capability: str,
    name: str,
    provider: ProviderSource,
    losses: list[_Loss],
    *,
    is_usable: bool,
    sink: DiagnosticSink,
) -> None:
    first = losses[0]
    written = provider.allowed_tools
    at = provider.place.child("roles", "mcp", *(() if written is None else ("allowed_tools",)))
    what = "`allowed_tools = []`" if written == () else "no `allowed_tools`" if written is None else "`allowed_tools`"
    left = f"only what {_patterns([p.located for p in first.reaching])} can match" if is_usable else "no tool"
    culprit = first.culprit
    owner = f"capability `{culprit.owner}`" if culprit.owner is not None else "the agent"
    is_sole = len(tuple(_referenced(provider))) == 1
    sink.report(
        MERGE_DIFFERS,
        f"{what} of capability `{capability}` grants all of server `{name}` when activated alone, "
        f"and {left} once Octomind merges it into {_agents([loss.agent for loss in losses])}",
        at=at,
        related={
            f"pattern `{culprit.located.value}` of {owner} {_effect(first)}": culprit.located.place,
            f"`{first.agent.name}` merges them here": _merged_at(first.agent, capability),
        },
        notes=("octoc grants all of it in both cases",) if not written else (),
        help=f'write `allowed_tools = ["{name}:*"]`' if is_sole and not written else f"add `{name}:*`",
        fix=_every_tool(at, name) if is_sole and written == () else None,
    )


def _effect(loss: _Loss) -> str:
    if not loss.reaching:
        return "makes the merged list, which names no tool of this server"
    return "applies to every server" if _is_bare(loss.culprit.located) else "is for this server"


def _merged_at(agent: Agent, capability: str) -> Place:
    references = agent.source.capabilities
    return next((r.place for r in references if r.value.rpartition("/")[2] == capability), agent.source.place)


def _agents(agents: list[Agent]) -> str:
    names = [agent.name for agent in agents]
    return f"agent `{names[0]}`" if len(names) == 1 else f"{len(names)} agents: {some_names(names, SHOWN)}"


def _patterns(patterns: list[Located[str]]) -> str:
    texts = list(dict.fromkeys(pattern.value for pattern in patterns))
    return f"pattern{'' if len(texts) == 1 else 's'} {some_names(texts, SHOWN)}"


def _is_bare(pattern: Located[str]) -> bool:
    return ToolPattern.parse(pattern.value).server is None


def _every_tool(at: Place, server: str) -> Callable[[Locator], Fix]:
    def fix(locate: Locator) -> Fix:
        return Fix(title=f"grant `{server}:*`", edits=(Edit(span=locate(at), text=f"[{_quoted(f'{server}:*')}]"),))

    return fix


def _qualified(bare: list[Located[str]], server: str) -> Callable[[Locator], Fix]:
    def fix(locate: Locator) -> Fix:
        edits = tuple(Edit(span=locate(pattern.place), text=_quoted(f"{server}:{pattern.value}")) for pattern in bare)
        return Fix(title=f"name server `{server}` in each pattern", edits=edits)

    return fix


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a JSON string is also a TOML string
