"""A side of a diff: what a bundle, a lock, recorded snapshots or live servers say of servers, agents and routing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.json_limits import may_have_odd_number, parse
from octoc.pins.changes import SERVER
from octoc.pins.parts import Pin, Pins, part_digest, tool_parts
from octoc.results import OFFER_KEYS, ListedOffer, ListedTool, OfferKind, ServerListing

if TYPE_CHECKING:
    from octoc.bundle.reader import OpenBundle

Record = bytes | Pin
"""A tool, an offer or a server's own words as canonical JSON, or only the digests of its parts."""
Part = str | tuple[str, ...]
"""A part of what decides routing: a few words, a digest, or a list of texts."""


@attrs.frozen(kw_only=True)
class AgentReach:
    """What one agent may use: `tools` as `server/tool` or `server/*`, `offers` as `kind server/name` or `server/*`."""

    tools: frozenset[str] = frozenset()
    offers: frozenset[str] = frozenset()

    def has(self, server: str, subject: str) -> bool:
        """Return whether the agent may use what a change is about; `server` for any part of that server."""
        kind, _, name = subject.partition(" ")
        if kind == SERVER:
            return any(one.partition("/")[0].split(" ")[-1] == server for one in (*self.tools, *self.offers))
        if kind == "tool":
            return f"{server}/{name}" in self.tools or f"{server}/*" in self.tools
        return f"{kind} {server}/{name}" in self.offers or f"{server}/*" in self.offers


@attrs.frozen(kw_only=True)
class Side:
    """One side of a diff.

    Args:
        servers: by name, the records of its tools and offers by subject (see `Change`), and of itself.
        agents: what each agent may use; None if every agent may use everything, or nothing is known of agents.
        routing: what decides routing and search, as `capability docs` or `encoder`, with the parts of each. A list of
            texts has its items; of anything longer than a few words a part is a digest.
        capabilities: those that activate a tool, by `server/tool`.
    """

    name: str
    servers: Mapping[str, Mapping[str, Record]]
    agents: Mapping[str, AgentReach] | None = None
    routing: Mapping[str, Mapping[str, Part]] | None = None
    capabilities: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)


def wire_of(record: bytes) -> dict[str, Any]:
    """Return the wire object that a record has."""
    # The hooks of `parse` take three times as long, and are for other threads and for numbers that are not JSON.
    return parse(record) if may_have_odd_number(record) else json.loads(record.decode())  # type: ignore[no-any-return]


def pin_of(subject: str, record: Record) -> Pin:
    """Return the digests of a record's parts."""
    if not isinstance(record, bytes):
        return record
    wire = wire_of(record)
    if subject.startswith("tool "):
        return tool_parts(wire)
    if subject == SERVER:
        return {part: part_digest(value) for part, value in wire.items()}
    key = OFFER_KEYS[_kind_of(subject)]
    rest = {name: value for name, value in wire.items() if name != key}
    return {"name": part_digest(wire[key]), "other": part_digest(rest)}


def pins_of_records(records: Mapping[str, Record]) -> Pins:
    """Return the pins of one server's records."""
    return {subject: pin_of(subject, record) for subject, record in records.items()}


def records_of(listing: ServerListing) -> dict[str, Record]:
    """Return the records of everything that a server listed."""
    records: dict[str, Record] = {SERVER: _own_words(listing)}
    records |= {f"tool {tool.name}": canonical_json({**tool.wire, "name": tool.name}) for tool in listing.tools}
    records |= {f"{offer.kind} {offer.name}": canonical_json(offer.wire) for offer in listing.offers}
    return records


def _own_words(listing: ServerListing) -> bytes:
    words = {"instructions": listing.instructions, "info": dict(listing.server_info), "features": [*listing.features]}
    return canonical_json({key: value for key, value in words.items() if value})


def listing_of(wires: Mapping[str, Mapping[str, Any]]) -> ServerListing:
    """Return the listing that some wire objects, by subject, are of."""
    tools, offers = [], []
    own: Mapping[str, Any] = {}
    for subject, wire in wires.items():
        if subject == SERVER:
            own = wire
        elif subject.startswith("tool "):
            tools.append(ListedTool(name=wire["name"], description=str(wire.get("description") or ""), wire=wire))
        else:
            kind = _kind_of(subject)
            offers.append(ListedOffer(kind=kind, name=wire[OFFER_KEYS[kind]], wire=wire))
    return ServerListing(
        server_info=own.get("info", {}),
        protocol_version="",
        instructions=own.get("instructions"),
        tools=tuple(tools),
        offers=tuple(offers),
        features=tuple(own.get("features", ())),
    )


def _kind_of(subject: str) -> OfferKind:
    kind = subject.partition(" ")[0]
    return next(known for known in OFFER_KEYS if known == kind)


def side_of_bundle(opened: OpenBundle, name: str) -> Side:
    """Return what a bundle says. Raises: BundleFileError."""
    bundle, offers = opened.bundle, opened.offers
    servers: dict[str, dict[str, Record]] = {
        server.name: {
            SERVER: canonical_json({
                **({"instructions": server.instructions} if server.instructions else {}),
                **({"features": list(found)} if (found := offers.features.get(server.name)) else {}),
            })
        }
        for server in bundle.servers
        if server.listed
    }  # fmt: skip
    for index, tool in enumerate(bundle.tools):
        servers.setdefault(tool.server, {})[f"tool {tool.name}"] = opened.tool_bytes(index)
    for offer in offers.offers:
        servers.setdefault(offer.server, {})[f"{offer.kind} {offer.name}"] = canonical_json(offer.wire)
    ids = [f"{tool.server}/{tool.name}" for tool in bundle.tools]
    agents = {}
    for agent in bundle.agents:
        own = offers.of(agent.name)
        unlisted = (*agent.registry.unlisted, *agent.registry.unlisted_direct)
        agents[agent.name] = AgentReach(
            tools=frozenset({
                *map(ids.__getitem__, agent.registry.tools),
                *(f"{grant.server}/{glob}" for grant in unlisted for glob in grant.globs),
            }),
            offers=frozenset({
                *(f"{server}/*" for server in own.whole),
                *(f"{one.kind} {one.server}/{one.name}" for one in map(offers.offers.__getitem__, own.offers)),
            }),
        )  # fmt: skip
    activated: dict[str, list[str]] = {}
    for capability in bundle.capabilities:
        for index in {index for grant in capability.grants for index in grant.tools}:
            activated.setdefault(ids[index], []).append(capability.name)
    return Side(
        name=name,
        servers=servers,
        agents=agents,
        routing=_routing(opened),
        capabilities={tool: tuple(sorted(names)) for tool, names in activated.items()},
    )


def _routing(opened: OpenBundle) -> dict[str, dict[str, Part]]:
    bundle = opened.bundle
    found: dict[str, dict[str, Part]] = {
        f"capability `{one.name}`": {
            "provider": one.provider,
            "title": one.title,
            "description": _digest(one.description),
            "triggers": one.triggers,
            "dependencies": one.deps,
        }
        for one in bundle.capabilities
    }
    found |= {
        f"skill `{one.name}`": {"description": _digest(one.description), "rules": one.rules} for one in bundle.skills
    }
    for name, encoder in (("encoder", bundle.encoder), ("second encoder", bundle.second_encoder)):
        if encoder is not None:
            found[name] = {"name": encoder.name, "vectors": encoder.identity}
    if bundle.gate is not None:
        gate = bundle.gate
        found["gate"] = {
            "kind": gate.kind,
            "threshold": f"{gate.threshold:.3f}",
            "margin": f"{gate.margin:.3f}",
            "top_k": str(gate.top_k),
            "model": _digest(gate.data),
        }
    search = {name: digest for name, digest in opened.digests.items() if name.startswith("search/")}
    found["search index"] = {"content": _digest(search)}
    return found


def _digest(value: Any) -> str:
    return sha256_hex(canonical_json(value))
