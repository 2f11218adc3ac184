"""Agents that get their tools directly, because these cost fewer tokens than octoc's own tools would."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from octoc.bundle.model import Registry
from octoc.choices import ResultProfile
from octoc.compiler.describe.stage import servers_section
from octoc.compiler.lint.tools.constructs import is_refused
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import ScopedTool
from octoc.compiler.model.scopes import AgentPlacement
from octoc.compiler.scope.aliases import aliases_in, style_of
from octoc.formats.own_tools import own_wires
from octoc.formats.render import shown
from octoc.search import OCTO
from octoc.tokens import APPROXIMATE

_STRICT = ("anthropic", "openai")
"""Providers whose clients send schemas as they are; those of Gemini rewrite them."""


def with_bound(registries: Mapping[str, Registry], tools: Sequence[ScopedTool], build: Build) -> dict[str, Registry]:
    """Return the registries; an agent whose tools cost less than the search for them has all of them directly.

    An agent keeps searching if a cost is unknown (a server without a snapshot), or if something would be lost: Octo's
    own rule, a skill that a message uses, a capability that installs dependencies, a tool in whose presence a provider
    refuses every request.
    """
    search = build.settings.search
    if search.rank == OCTO or search.bind == "never":
        return dict(registries)
    placements = {} if build.resolved.scopes is None else build.resolved.scopes.members
    decided: dict[tuple[Registry, ResultProfile], Registry] = {}
    bound: dict[str, Registry] = {}
    for agent, registry in registries.items():
        own = placements.get(agent, AgentPlacement()).settings.results_profile
        key = registry, own or build.settings.results.profile
        if key not in decided:
            is_bound = _can_be_bound(registry, build) and _is_cheaper(*key, tools, build)
            is_bound = is_bound and not any(is_refused(_schema(tools[index]), _STRICT) for index in registry.tools)
            decided[key] = attrs.evolve(registry, direct=registry.tools, bound=True) if is_bound else registry
        bound[agent] = decided[key]
    return bound


def _can_be_bound(registry: Registry, build: Build) -> bool:
    resolved = build.resolved
    names = frozenset((*registry.capabilities, *registry.reserved, *registry.boot))
    return (
        registry.proxy
        and not registry.unlisted
        and not any(one.deps for one in resolved.capabilities if one.name in names)
        # In a gateway, a search is what tells octoc of a message.
        and not any(one.source.rules for one in resolved.skills if one.source.name in registry.skills)
    )


def _is_cheaper(registry: Registry, profile: ResultProfile, tools: Sequence[ScopedTool], build: Build) -> bool:
    results = build.settings.results
    wires = own_wires(
        profile=profile,
        proxy=True,
        switchable=bool(registry.capabilities or registry.boot),
        skills=False,  # shown either way
        reads_results=results.store_memory_bytes + results.store_disk_bytes > 0,
    )
    left = sum(_tokens(wire["name"], wire) for wire in wires)
    left += APPROXIMATE.count(servers_section(registry, tools, build.resolved.servers, profile))
    searched = [index for index in registry.tools if index not in registry.direct]
    if len(searched) >= left:  # a tool has at least one token
        return False
    aliases = aliases_in(registry, tools, style_of(build.settings))
    for index in searched:
        left -= _tokens(aliases[index], tools[index].listed.wire)
        if left <= 0:
            return False
    return True


def _tokens(alias: str, wire: Mapping[str, Any]) -> int:
    """Count a tool as `octoc show tokens` does."""
    return APPROXIMATE.count(
        json.dumps(shown(alias, wire, "anthropic").tool, ensure_ascii=False, separators=(",", ":"))
    )


def _schema(tool: ScopedTool) -> Any:
    return tool.listed.wire.get("inputSchema")
