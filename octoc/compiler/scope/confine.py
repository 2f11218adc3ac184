"""A registry held to its agent's ceiling: what is above it is not there, under whatever name."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from octoc.bundle.model import Grant, Registry
from octoc.compiler.resolve.patterns import EVERY
from octoc.compiler.scope.ceiling import Ceiling, Limits
from octoc.compiler.scope.globs import Globs, common
from octoc.compiler.scope.tools import Tools


def confined(registry: Registry, ceiling: Ceiling, limits: Limits) -> Registry:
    """Return a registry without what the ceiling does not have.

    A capability of which nothing is left does not exist for the agent; of unlisted servers it brings no more than the
    registry says.
    """

    def exists(name: str) -> bool:
        if ceiling.capabilities is not None and name not in ceiling.capabilities:
            return False
        tools = limits.brought[name]
        return not tools or bool(tools & ceiling.tools)

    numbers = ceiling.tools.numbers
    capabilities = tuple(name for name in registry.capabilities if exists(name))
    boot = tuple(name for name in registry.boot if exists(name))
    reached = unlisted(registry.unlisted)
    if not registry.proxy:
        # Nothing of these is there before a capability brings it.
        reached |= frozenset(glob for name in (*capabilities, *boot) for glob in limits.brought[name].globs)
    return attrs.evolve(
        registry,
        tools=tuple(index for index in registry.tools if index in numbers),
        direct=tuple(index for index in registry.direct if index in numbers),
        unlisted=_grants(common(reached, ceiling.tools.globs)),
        unlisted_direct=_grants(common(unlisted(registry.unlisted_direct), ceiling.tools.globs)),
        capabilities=capabilities,
        boot=boot,
        skills=tuple(name for name in registry.skills if ceiling.skills is None or name in ceiling.skills),
        confined=True,
    )


def reached(registry: Registry) -> Tools:
    """Return all that a confined registry has, now or when a capability is active."""
    globs = unlisted(registry.unlisted) | unlisted(registry.unlisted_direct)
    return Tools(frozenset((*registry.tools, *registry.direct)), globs)


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
