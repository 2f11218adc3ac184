"""Sides of a diff from locks: a lock with the snapshots beside it, in a folder or at a git revision."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.refusal import BundleError
from octoc.compiler.lock.content import TOOL_PIN_PARTS, LockContent, SnapshotLock
from octoc.compiler.lock.text import NewerLockError, parse
from octoc.compiler.pin.snapshots import FOLDER, listing_of_snapshot, snapshot_file_name
from octoc.compiler.workspace.files import regular_bytes
from octoc.compiler.workspace.git import Repository
from octoc.compiler.workspace.paths import LOCK_FILE
from octoc.pins.sides import AgentReach, Part, Record, Side, records_of
from octoc.results import ServerListing


class SideError(Exception):
    """A side cannot be read; the message says why in one line."""


def side_of_lock(path: Path, name: str) -> Side:
    """Return what a lock says, with the snapshots beside it that it pins. Raises: SideError."""
    try:
        data = regular_bytes(path)
    except OSError as error:
        raise SideError(f"`{name}` cannot be read: {error.strerror or error}") from None
    return side_of_data(data, path.parent, name)


def side_of_data(data: bytes, folder: Path, name: str) -> Side:
    """Return what the bytes of a lock say, with the snapshots in `folder` that it pins. Raises: SideError."""
    return _side(data, functools.partial(_snapshot, folder), name)


def side_of_folder(folder: Path, name: str) -> tuple[Side, tuple[str, ...]]:
    """Return what a workspace's lock and snapshots say, and the servers whose snapshots the lock does not pin yet.

    Of these servers the side has the snapshots, which the next build locks. Raises: SideError.
    """
    side = side_of_lock(folder / LOCK_FILE, name)
    servers = dict(side.servers)
    for server in servers:
        data = _snapshot(folder, snapshot_file_name(server))
        listing = None if data is None else listing_of_snapshot(data.decode("utf-8", "replace"))
        if listing is not None:
            servers[server] = records_of(listing)
    newer = tuple(server for server in servers if servers[server] != side.servers[server])
    return attrs.evolve(side, servers=servers), newer


def _snapshot(folder: Path, file: str) -> bytes | None:
    try:
        return regular_bytes(folder / FOLDER / file)
    except OSError:
        return None


def side_of_revision(folder: Path, revision: str) -> Side:
    """Return what the lock and the snapshots of a workspace say at a git revision. Raises: SideError, RevisionError."""
    repository = Repository(folder)
    commit = repository.commit(revision)
    inside = Path(os.path.relpath(os.path.realpath(folder), os.path.realpath(repository.top))).as_posix()
    lock = repository.data(
        "cat-file", "blob", f"{commit}:{LOCK_FILE}" if inside == "." else f"{commit}:{inside}/{LOCK_FILE}"
    )
    if lock is None:
        raise SideError(f"revision `{revision}` has no `{LOCK_FILE}` in this folder")
    files = repository.files(commit, FOLDER)
    return _side(lock, lambda file: repository.blob(files[file]) if file in files else None, revision)


def _side(data: bytes, snapshot: Callable[[str], bytes | None], name: str) -> Side:
    try:
        lock = parse(data.decode("utf-8"))
    except NewerLockError as newer:
        raise SideError(f"the lock of `{name}` has format {newer.version}: a newer octoc wrote it") from None
    except (BundleError, UnicodeDecodeError) as error:
        raise SideError(f"`{name}` is not a lock: {str(error).splitlines()[0]}") from None
    servers = {server: _records(server, pins, snapshot) for server, pins in lock.snapshots.items()}
    agents = {
        agent: AgentReach(tools=frozenset(one.reach), offers=frozenset(one.offers))
        for agent, one in lock.agents.items()
    }
    return Side(name=name, servers=servers, agents=agents or None, routing=_routing(lock))


def _records(server: str, pins: SnapshotLock, snapshot: Callable[[str], bytes | None]) -> Mapping[str, Record]:
    data = snapshot(snapshot_file_name(server))
    listing = None if data is None else listing_of_snapshot(data.decode("utf-8", "replace"))
    if listing is not None and _is_pinned(listing, pins):
        return records_of(listing)
    records: dict[str, Record] = {
        f"tool {name}": {"whole": pin.digest, **{part: getattr(pin, part) for part in TOOL_PIN_PARTS}}
        for name, pin in pins.tools.items()
    }
    return {**records, **{offer: {"whole": digest} for offer, digest in pins.offers.items()}}


def _is_pinned(listing: ServerListing, pins: SnapshotLock) -> bool:
    """Return whether a listing has exactly the tools and offers that a lock pins."""
    tools = {tool.name: sha256_hex(canonical_json(tool.wire)) for tool in listing.tools}
    offers = {f"{offer.kind} {offer.name}": sha256_hex(canonical_json(offer.wire)) for offer in listing.offers}
    return tools == {name: pin.digest for name, pin in pins.tools.items()} and offers == dict(pins.offers)


def _routing(lock: LockContent) -> dict[str, dict[str, Part]]:
    found: dict[str, dict[str, Part]] = {
        f"capability `{name}`": {"provider": provider} for name, provider in lock.providers.items()
    }
    found |= {f"tap `{name}`": {"files": tap.digest} for name, tap in lock.taps.items()}
    if lock.encoder is not None:
        found["encoder"] = {"name": lock.encoder.name, "vectors": lock.encoder.identity}
    if lock.gate is not None:
        found["gate"] = {"kind": lock.gate.kind, "background": lock.gate.background, **lock.gate.texts}
    if lock.search is not None:
        found["search index"] = {"tool intents": lock.search.tool_intents}
    return found
