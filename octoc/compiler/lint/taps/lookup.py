"""Lookups that several rules over taps share: the provider of a capability, a server by its definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability, Server
from octoc.compiler.model.source import CapabilitySource, ProviderSource, ServerSource
from octoc.diagnostics.model import Place

SHOWN = 3
"""Maximum number of names in a message, which counts the others."""


def sources_of(build: Build) -> dict[str, CapabilitySource]:
    """Return the source of each capability, by the capability's name."""
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
    """Return the capability of `names` that a reference of an agent or a skill means; None if it means none of them."""
    bare = reference.value.rpartition("/")[2]
    return next((capabilities[name] for name in names if capabilities[name].bare == bare), None)


def all_providers(build: Build) -> list[tuple[CapabilitySource, ProviderSource]]:
    """Return every provider file of every tap in the order of discovery, also those that no capability uses."""
    return [(source, provider) for source in build.sources.capabilities for provider in source.providers.values()]


def server_of(build: Build) -> dict[Place | str, Server]:
    """Return each server by its name, and by the place of its definition."""
    servers: dict[Place | str, Server] = {server.name: server for server in build.resolved.servers}
    servers.update({server.place: server for server in build.resolved.servers})
    return servers


def defined_server(servers: dict[Place | str, Server], source: ServerSource) -> Server | None:
    """Return the server of a definition, or the equal server that octoc merged it into."""
    return servers.get(source.place) or servers.get(source.name)


def inside(located: Located[str], start: int, end: int) -> Place:
    """Return the place of a range of a located text, which can itself be a part of a string."""
    base = located.place.within[0] if located.place.within is not None else 0
    place = located.place
    return Place(file=place.file, path=place.path, within=(base + start, base + end))
