"""A registry held to its agent's ceiling: what is above it is not there, under whatever name."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from octoc.bundle.model import Grant, Registry
from octoc.compiler.model.resolved import Agent
from octoc.compiler.resolve.patterns import EVERY
from octoc.compiler.scope.ceiling import Ceiling, Limits, tools_of
from octoc.compiler.scope.globs import Globs, uncovered
from octoc.compiler.scope.tools import Tools, union


def confined(agent: Agent, registry: Registry, ceiling: Ceiling, limits: Limits) -> Registry:
    """Return a registry without what the ceiling does not have.

    A capability of which nothing is left does not exist for the agent; of unlisted servers it brings no more than the
    registry says. Without the proxy a tool has to be direct or of a capability that is left.
    """

    def exists(name: str) -> bool:
        if ceiling.capabilities is not None and name not in ceiling.capabilities:
            return False
        tools = limits.brought[name]
        return not tools or bool(left(tools & all_there))

    def left(tools: Tools) -> Tools:
        tools &= ceiling.tools
        return Tools(tools.numbers, uncovered(tools.globs, excluded))

    excluded = unlisted(registry.excluded)
    # With the proxy all that a capability may bring is in the registry.
    all_there = reached(registry) if registry.proxy else limits.everything
    capabilities = tuple(name for name in registry.capabilities if exists(name))
    reserved = tuple(name for name in registry.reserved if exists(name))
    boot = tuple(name for name in registry.boot if exists(name))
    direct = Tools(frozenset(registry.direct), unlisted(registry.unlisted_direct))
    if boot != registry.boot:
        own = tools_of(agent.own_grants, limits.fleet)
        direct &= union([own, *(limits.brought[name] for name in boot)])
    there = reached(registry)
    if not registry.proxy:
        # Nothing of these is there before a capability brings it.
        brought = union(limits.brought[name] for name in (*capabilities, *reserved, *boot))
        there = Tools(there.numbers & (direct | brought).numbers, unlisted(registry.unlisted) | brought.globs)
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


def reached(registry: Registry) -> Tools:
    """Return all that a confined registry has, now or when a capability is active."""
    globs = unlisted(registry.unlisted) | unlisted(registry.unlisted_direct)
    return Tools(frozenset((*registry.tools, *registry.direct)), globs)


def reached_of(registry: Registry, asked: Tools) -> Tools:
    """Return what of `asked` a confined registry has, and does not exclude."""
    found = reached(registry) & asked
    return Tools(found.numbers, uncovered(found.globs, unlisted(registry.excluded)))


def unlisted(grants: Iterable[Grant]) -> Globs:
    """Return (server, glob) of a registry's grants on unlisted servers."""
    return frozenset((grant.server, glob) for grant in grants for glob in grant.globs)


def _grants(globs: Globs) -> tuple[Grant, ...]:
    """Return one grant a server, globs sorted."""
    by_server: dict[str, list[str]] = {}
    for server, glob in sorted(globs):
        by_server.setdefault(server, []).append(glob)
    return tuple(
        Grant(server=server, globs=EVERY if "*" in found else tuple(found)) for server, found in by_server.items()
    )
