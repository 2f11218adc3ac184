"""Limit a registry to its agent's ceiling, so that nothing above it exists under any name."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from octoc.bundle.model import Grant, Registry
from octoc.compiler.model.resolved import Agent
from octoc.compiler.resolve.patterns import EVERY
from octoc.compiler.scope.ceiling import Ceiling, CeilingScopes, tools_of
from octoc.compiler.scope.globs import Globs, uncovered
from octoc.compiler.scope.tools import ToolSet, union


def confined(agent: Agent, registry: Registry, ceiling: Ceiling, limits: CeilingScopes) -> Registry:
    """Return a registry with only the parts that the ceiling contains.

    A capability without any remaining tool does not exist for the agent; it brings only the globs of unlisted servers
    that the registry has. Without the proxy, a tool must be direct or of a remaining capability.
    """

    def exists(name: str) -> bool:
        if ceiling.capabilities is not None and name not in ceiling.capabilities:
            return False
        tools = limits.brought[name]
        return not tools or bool(left(tools & all_there))

    def left(tools: ToolSet) -> ToolSet:
        tools &= ceiling.tools
        return ToolSet(tools.numbers, uncovered(tools.globs, excluded))

    excluded = unlisted(registry.excluded)
    # With the proxy, the registry already contains all tools of capabilities.
    all_there = reached(registry) if registry.proxy else limits.everything
    capabilities = tuple(name for name in registry.capabilities if exists(name))
    reserved = tuple(name for name in registry.reserved if exists(name))
    boot = tuple(name for name in registry.boot if exists(name))
    direct = ToolSet(frozenset(registry.direct), unlisted(registry.unlisted_direct))
    if boot != registry.boot:
        own = tools_of(agent.own_grants, limits.fleet)
        direct &= union([own, *(limits.brought[name] for name in boot)])
    there = reached(registry)
    if not registry.proxy:
        # Only a capability brings these tools.
        brought = union(limits.brought[name] for name in (*capabilities, *reserved, *boot))
        there = ToolSet(there.numbers & (direct | brought).numbers, unlisted(registry.unlisted) | brought.globs)
    direct, there = left(direct), left(there)
    return attrs.evolve(
        registry,
        tools=tuple(sorted(there.numbers)),
        direct=tuple(sorted(direct.numbers)),
        unlisted=_grants(there.globs),
        unlisted_direct=_grants(direct.globs),
        capabilities=capabilities,
        reserved=reserved,
        boot=boot,
        skills=tuple(name for name in registry.skills if ceiling.skills is None or name in ceiling.skills),
        confined=True,
    )


def reached(registry: Registry) -> ToolSet:
    """Return all tools of a confined registry, including those of capabilities."""
    globs = unlisted(registry.unlisted) | unlisted(registry.unlisted_direct)
    return ToolSet(frozenset((*registry.tools, *registry.direct)), globs)


def reached_of(registry: Registry, asked: ToolSet) -> ToolSet:
    """Return the tools of `asked` that a confined registry has and does not exclude."""
    both = reached(registry) & asked
    return ToolSet(both.numbers, uncovered(both.globs, unlisted(registry.excluded)))


def unlisted(grants: Iterable[Grant]) -> Globs:
    """Return (server, glob) of a registry's grants on unlisted servers."""
    return frozenset((grant.server, glob) for grant in grants for glob in grant.globs)


def _grants(globs: Globs) -> tuple[Grant, ...]:
    """Return one grant for each server, with sorted globs."""
    by_server: dict[str, list[str]] = {}
    for server, glob in sorted(globs):
        by_server.setdefault(server, []).append(glob)
    return tuple(
        Grant(server=server, globs=EVERY if "*" in found else tuple(found)) for server, found in by_server.items()
    )
