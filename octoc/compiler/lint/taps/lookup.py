"""What the rules over taps look up again and again: the chosen provider of a capability, a server by its definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Capability, Server
from octoc.compiler.model.source import CapabilitySource, Located, ProviderSource, ServerSource
from octoc.diagnostics.model import Place

SHOWN = 3
"""How many names a message tells before it counts the rest."""


def sources_of(build: Build) -> dict[str, CapabilitySource]:
    """Return the folder that each capability is made from, by name."""
    by_folder = {(source.tap, source.name): source for source in build.sources.capabilities}
    return {c.name: by_folder[c.tap, c.bare] for c in build.resolved.capabilities if (c.tap, c.bare) in by_folder}


def providers_of(build: Build) -> dict[str, ProviderSource]:
    """Return the chosen provider of each capability, by the capability's name."""
    sources = sources_of(build)
    return {
        capability.name: sources[capability.name].providers[capability.provider]
        for capability in build.resolved.capabilities
        if capability.name in sources and capability.provider in sources[capability.name].providers
    }


def meant(reference: Located[str], names: Sequence[str], capabilities: Mapping[str, Capability]) -> Capability | None:
    """Return the capability that a reference of an agent or a skill means, of those that it has by `names`."""
    bare = reference.value.rpartition("/")[2]
    return next((found for name in names if (found := capabilities[name]).bare == bare), None)


def all_providers(build: Build) -> list[tuple[CapabilitySource, ProviderSource]]:
    """Return every provider file of every tap, chosen or not, in the order of discovery."""
    return [(source, provider) for source in build.sources.capabilities for provider in source.providers.values()]


def server_of(build: Build) -> dict[Place | str, Server]:
    """Return each server by its name, and by the place of the definition that made it."""
    found: dict[Place | str, Server] = {server.name: server for server in build.resolved.servers}
    found.update({server.place: server for server in build.resolved.servers})
    return found


def defined_server(servers: dict[Place | str, Server], source: ServerSource) -> Server | None:
    """Return the server that a definition became, or the equal one that it was merged into."""
    return servers.get(source.place) or servers.get(source.name)


def inside(located: Located[str], start: int, end: int) -> Place:
    """Return the place of a range of a located text, which may itself be a part of a string."""
    base = located.place.within[0] if located.place.within is not None else 0
    place = located.place
    return Place(file=place.file, path=place.path, within=(base + start, base + end))
