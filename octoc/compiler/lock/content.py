"""What `octoc.lock` says: digests of everything that was put in, never of what came out, and no float."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.writer import Parts
from octoc.choices import GateKind
from octoc.compiler.calibrate.texts import background_lines
from octoc.compiler.lock.inputs import files_of
from octoc.compiler.lock.members import BundleLock, bundle_lock
from octoc.compiler.lock.scopes import AgentLock, agents_of
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Program
from octoc.compiler.model.resolved import Server
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import SnapshotSource
from octoc.pins.parts import tool_parts
from octoc.routing.skill_rules import phrases_of

VERSION = 1
"""A reader of a lower version refuses the lock."""
REVISION = 3
"""Compatible additions.

3: the bundle, every file of skills and of `deps/` with its executable bit, local programs, and digests of tools'
   output schemas and annotations.
"""
TOOL_PIN_PARTS = ("description", "input_schema", "output_schema", "annotations")
"""The parts of `ToolPin`, in its order."""


@attrs.frozen
class ToolPin:
    """A recorded tool: its wire object's digest, and 16 digits of the digest of each part, to say what changed.

    A part that the tool does not have is empty.
    """

    digest: str
    description: str
    input_schema: str
    output_schema: str
    annotations: str


@attrs.frozen(kw_only=True)
class TapLock:
    """A tap: `digest` covers its files and links; `files` has the sha256 of each file.

    `executable` are the paths of skills' files and of files below `deps/` that have the executable bit.
    A tap from git has its address and revision as in octoc.toml, and the commit.
    """

    digest: str
    git: str = ""
    rev: str = ""
    commit: str = ""
    files: Mapping[str, str] = attrs.field(factory=dict)
    executable: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class ServerLock:
    """A server: the digest of what reaches it, and the package that its command runs.

    `spec`, `version` and `hashes` are those of `PackageVersion`. `takes` are the references of a tap's server to files
    and to credentials of other services.
    """

    definition: str
    package: str = ""
    spec: str = ""
    version: str = ""
    hashes: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class SnapshotLock:
    """What a server was recorded to have. `offers` are digests of wire objects, as by `resource file:///notes.md`."""

    digest: str
    tools: Mapping[str, ToolPin] = attrs.field(factory=dict)
    offers: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class EncoderLock:
    """`identity` digests weights, vocabulary and method."""

    name: str
    identity: str


@attrs.frozen(kw_only=True)
class GateLock:
    """`background` is the digest of the messages for no capability that a calibrated gate learned from.

    `texts` are those of the other texts that ship with octoc and that it learned from, by name: `needs/commerce`.
    """

    kind: GateKind
    background: str = ""
    texts: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class SearchLock:
    """An index made with an encoder; `tool_intents` is the digest of the texts of the tool intents."""

    tool_intents: str


@attrs.frozen(kw_only=True)
class SettingsLock:
    """What `octoc.toml` sets, with its defaults, by dotted key; a float stands as text."""

    digest: str
    values: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class LockContent:
    """All of `octoc.lock`. `files` are the workspace's own, by path; `providers` are `tap/provider` by capability.

    `executable` are the paths of the workspace's own skills' files that have the executable bit.
    `agents` is what each may reach; empty in a workspace without scopes.
    """

    version: int = VERSION
    revision: int = REVISION
    settings: SettingsLock
    taps: Mapping[str, TapLock] = attrs.field(factory=dict)
    files: Mapping[str, str] = attrs.field(factory=dict)
    providers: Mapping[str, str] = attrs.field(factory=dict)
    servers: Mapping[str, ServerLock] = attrs.field(factory=dict)
    snapshots: Mapping[str, SnapshotLock] = attrs.field(factory=dict)
    encoder: EncoderLock | None = None
    gate: GateLock | None = None
    search: SearchLock | None = None
    plugins: Mapping[str, str] = attrs.field(factory=dict)
    agents: Mapping[str, AgentLock] = attrs.field(factory=dict)
    bundle: BundleLock | None = None
    executable: tuple[str, ...] = ()


def content_of(
    build: Build, plugins: Mapping[str, str], parts: Parts, programs: Mapping[str, Program | None]
) -> LockContent:
    """Return what the lock of this build says.

    Args:
        plugins: versions by name.
        parts: the bundle's members.
        programs: what servers run of the workspace and its taps.
    """
    settings, resolved, embedded = build.settings, build.resolved, build.embedded
    pinned = {program.display: program.digest for program in programs.values() if program and program.digest}
    from_git = {tap.name: {"git": tap.git, "rev": tap.rev, "commit": tap.commit} for tap in settings.taps}
    taps, own = files_of(build.discovered, {**build.documents.digests, **pinned})
    encoder = None
    if embedded.encoder_name is not None:
        encoder = EncoderLock(name=embedded.encoder_name, identity=embedded.identity)
    gate = None
    if build.calibrated.gate is not None:
        gate = _gate(build.calibrated.gate.kind, settings)
    return LockContent(
        settings=settings_of(settings),
        taps={
            name: TapLock(digest=found.digest, files=found.files, executable=found.executable, **from_git.get(name, {}))
            for name, found in taps.items()
        },
        files=own.files,
        executable=own.executable,
        providers={found.name: f"{found.tap}/{found.provider}" for found in resolved.capabilities},
        servers={server.name: _server(server) for server in resolved.servers},
        snapshots=_snapshots(resolved.servers),
        encoder=encoder,
        gate=gate,
        # An index of words alone has only what stands in the snapshots.
        search=SearchLock(tool_intents=intents_digest()) if "says" in build.search.arrays else None,
        plugins=dict(plugins),
        agents=agents_of(build),
        bundle=bundle_lock(parts, _made_of(build)),
    )


def _made_of(build: Build) -> dict[str, str]:
    """Return by member the digest of what its vectors or fitted arrays are made of, instead of the floats."""
    embedded = build.embedded
    found = {"gate": build.calibrated.made_of, "search": build.search.made_of}
    if embedded.triggers is not None:
        triggers = [trigger.value for each in build.resolved.capabilities for trigger in each.triggers]
        found["triggers"] = _digest([embedded.identity, triggers])
    if embedded.phrases is not None:
        phrases = list(phrases_of(rule.value for skill in build.resolved.skills for rule in skill.source.rules))
        found["skills"] = _digest([embedded.identity, phrases])
    return {name: digest for name, digest in found.items() if digest}


def _server(server: Server) -> ServerLock:
    known = server.package_version
    lock = ServerLock(definition=server.definition, package=server.package or "", takes=server.foreign)
    if known is None or not known.version:
        return lock
    return attrs.evolve(lock, spec=known.spec, version=known.version, hashes=known.hashes)


def tool_pin(wire: Mapping[str, Any]) -> ToolPin:
    """Return the pin of a tool's wire object."""
    parts = tool_parts(wire)
    return ToolPin(_digest(wire), *(parts.get(part, "") for part in TOOL_PIN_PARTS))


def settings_of(settings: WorkspaceSettings) -> SettingsLock:
    """Return the settings by dotted key.

    Where a tap lies is left out: the tap's own digest says what is in it. So are tables of scopes: what they come to
    stands by agent.
    """
    apart = {"place", "taps", "scope_tables", "scopes_unsound", "closed", "old_keys"}
    plain = attrs.asdict(settings, filter=lambda field, _: field.name not in apart)
    values = dict(_flat("", {**plain, "taps": [tap.name for tap in settings.taps]}))
    return SettingsLock(digest=_digest(values), values=values)


def _flat(prefix: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else key, item)
    elif isinstance(value, (list, tuple)):
        yield prefix, [str(item) for item in value]
    elif value is not None:
        yield prefix, repr(value) if isinstance(value, float) else value


def _snapshots(servers: Iterable[Server]) -> dict[str, SnapshotLock]:
    return {server.name: _snapshot(server.snapshot) for server in servers if server.snapshot is not None}


def _snapshot(snapshot: SnapshotSource) -> SnapshotLock:
    tools = {tool.name: tool_pin(tool.wire) for tool in snapshot.listing.tools}
    offers = {f"{offer.kind} {offer.name}": _digest(offer.wire) for offer in snapshot.listing.offers}
    return SnapshotLock(digest=snapshot.digest, tools=tools, offers=offers)


def _digest(value: Any) -> str:
    return sha256_hex(canonical_json(value))


def _gate(kind: GateKind, settings: WorkspaceSettings) -> GateLock:
    if kind != "calibrated":
        return GateLock(kind=kind)
    texts = shipped_texts()
    used = {name: digest for name, digest in texts.items() if settings.routing.needs or not name.startswith("needs/")}
    return GateLock(kind=kind, background=_digest(background_lines()), texts=used)


@cache
def shipped_texts() -> Mapping[str, str]:
    """Return the digest of each text file that routing learns from beside the background, computed from its texts."""
    folder = Path(__file__).parents[1] / "calibrate"
    files = sorted({*folder.glob("*.txt"), *folder.joinpath("needs").glob("*.toml")} - {folder / "background.txt"})
    names = (path.relative_to(folder).with_suffix("").as_posix() for path in files)
    return {name: sha256_hex(path.read_text("utf-8").encode()) for name, path in zip(names, files, strict=True)}


@cache
def intents_digest() -> str:
    """Return the digest of the file of tool intents."""
    text = Path(__file__).parents[1].joinpath("index", "tool_intents.toml").read_text("utf-8")
    return sha256_hex(text.encode())
