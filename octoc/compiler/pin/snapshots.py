"""Recorded `tools/list` answers: the text of a snapshot's file, its name, and dumps that others have recorded."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from octoc.compiler.model.settings import LimitSettings
from octoc.compiler.pin.packages import Package
from octoc.compiler.read.json import read_json
from octoc.compiler.read.text import load_text, snapshot_limit
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.lock import DUMP_SHAPE, DUMP_TOOL_SKIPPED
from octoc.json_limits import parse
from octoc.results import OFFER_KEYS, ListedOffer, ListedTool, OfferKind, ServerListing

FOLDER = "snapshots"
OFFER_LISTS: Mapping[OfferKind, str] = {
    "resource": "resources",
    "template": "resourceTemplates",
    "prompt": "prompts",
}
"""Kind of an offer -> the key of its list in a snapshot, as MCP names it."""
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,98}[a-z0-9_-]|[a-z0-9]")
# Names that Windows keeps for devices, whatever follows the first dot.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
_DIGITS = 8


@attrs.frozen(kw_only=True)
class Dump:
    """A listing that was recorded elsewhere, and the package that it is of, where the recording says so."""

    listing: ServerListing
    package: Package | None = None


def snapshot_file_name(server: str) -> str:
    """Return the name of a server's snapshot: one that every system can store, and no other server has.

    A name of lower-case letters, digits, `-`, `_` and `.` is kept. Any other loses what is unsafe, and gets `-` and
    eight hex digits of its sha256, so that names that differ only in case or in what was lost stay apart.
    """
    if _PLAIN_NAME.fullmatch(server) and not _DEVICE.fullmatch(server) and not _ends_like_digest(server):
        return f"{server}.json"
    digest = hashlib.sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    kept = re.sub(r"[^a-z0-9_-]+", "-", server.lower())[:60].strip("-_")
    return f"{kept}-{digest}.json" if kept else f"server-{digest}.json"


def _ends_like_digest(server: str) -> bool:
    """Whether a plain name could be one that was made for another server."""
    return re.search(rf"-[0-9a-f]{{{_DIGITS}}}\Z", server) is not None


def snapshot_text(*, server: str, definition: str, package: str | None, listing: ServerListing) -> str:
    """Return a snapshot as the text of its file: sorted keys, one space of indent, a newline at the end.

    The same values give the same text. Raises: ValueError for a number that is not finite.
    """
    value: dict[str, Any] = {
        "server": server,
        "definition": definition,
        "package": package,
        "serverInfo": dict(listing.server_info),
        "protocolVersion": listing.protocol_version,
        "instructions": listing.instructions,
        "tools": [tool.wire for tool in listing.tools],
        **({"leftOut": list(listing.left_out)} if listing.left_out else {}),
        **({"features": list(listing.features)} if listing.features else {}),
    }
    for offer in listing.offers:
        value.setdefault(OFFER_LISTS[offer.kind], []).append(offer.wire)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, indent=1)
    # A lone surrogate has no UTF-8; its JSON escape says the same.
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def listing_of_snapshot(text: str) -> ServerListing | None:
    """Return what a snapshot's file recorded, to compare with; None when the text is not a snapshot."""
    try:
        value = parse(text.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("tools"), list):
        return None
    return _listing(value, *usable_tools(value["tools"]))


def load_dump(path: Path, display: str, limits: LimitSettings, sink: DiagnosticSink) -> Dump | None:
    """Read a recorded dump; report and return None when it is something else."""
    limit = snapshot_limit(limits)
    source = load_text(path, display, limit, sink)
    if source is None or source.text is None:
        return None
    place = Place(file=display)
    text = source.text.lstrip()
    if not text.startswith("["):
        value: Any = read_json(source.text, place, sink)
        return None if value is None else dump_of(value, place, sink)
    try:
        value = parse(text.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        sink.report(DUMP_SHAPE, f"`{display}` cannot be read as JSON: {error}", at=place, help=_SHAPE)
        return None
    return dump_of(value, place, sink)


def dump_of(value: Any, place: Place, sink: DiagnosticSink) -> Dump | None:
    """Return a recorded dump; report and return None when it is something else.

    `value` is an object with `tools` (and maybe `package`, `registry`, `version`, `serverInfo`, `protocolVersion`,
    `instructions`), or the bare list of tools.
    """
    listing = listing_from_dump(value, place, sink)
    return None if listing is None else Dump(listing=listing, package=package_of_dump(value))


def listing_from_dump(value: Any, place: Place, sink: DiagnosticSink) -> ServerListing | None:
    """Return the listing of a recorded dump; report and return None when there is none.

    A tool without a name, or of a name that was there before, is left out and reported; `left_out` has a line for it.
    """
    whole = value if isinstance(value, Mapping) else {"tools": value}
    if isinstance(whole.get("result"), Mapping) and "tools" not in whole:  # the whole answer of a server
        whole = whole["result"]
    tools = whole.get("tools")
    if not isinstance(tools, list):
        sink.report(DUMP_SHAPE, f"`{place.file}` holds no list of tools", at=place, help=_SHAPE)
        return None
    at = place.child("tools") if isinstance(value, Mapping) else place
    usable, left_out = usable_tools(tools)
    for index, why in left_out.items():
        sink.report(DUMP_TOOL_SKIPPED, f"tool {index + 1} of `{place.file}` {why}", at=at.child(index))
    return _listing(whole, usable, left_out)


def package_of_dump(value: Any) -> Package | None:
    """Return the package that a recorded dump says it is of."""
    if not isinstance(value, Mapping):
        return None
    name, version, registry = value.get("package"), value.get("version"), value.get("registry")
    if not isinstance(name, str) or not name:
        return None
    return Package(
        registry=registry if isinstance(registry, str) else "",
        name=name,
        version=version if isinstance(version, str) and version else None,
    )


_SHAPE = 'expected what a server answers to `tools/list`: `{"tools": [{"name": …, "inputSchema": {…}}, …]}`'


def _listing(value: Mapping[str, Any], tools: tuple[ListedTool, ...], left_out: Mapping[int, str]) -> ServerListing:
    info, version, instructions = (value.get(key) for key in ("serverInfo", "protocolVersion", "instructions"))
    return ServerListing(
        server_info=info if isinstance(info, dict) else {},
        protocol_version=version if isinstance(version, str) else "",
        instructions=instructions if isinstance(instructions, str) and instructions else None,
        tools=tools,
        left_out=left_out_lines(left_out),
        offers=offers_of({key: value[key] for key in OFFER_LISTS.values() if isinstance(value.get(key), list)}),
        features=tuple(map(str, features)) if isinstance(features := value.get("features"), list) else (),
    )


def offers_of(lists: Mapping[str, Sequence[Any]]) -> tuple[ListedOffer, ...]:
    """Return the offers of a snapshot's lists, without entries that have no name; the first of a name counts."""
    found: dict[tuple[OfferKind, str], ListedOffer] = {}
    for kind, key in OFFER_LISTS.items():
        for wire in lists.get(key, ()):
            name = wire.get(OFFER_KEYS[kind]) if isinstance(wire, dict) else None
            if isinstance(name, str) and name.strip():
                found.setdefault((kind, name), ListedOffer(kind=kind, name=name, wire=wire))
    return tuple(found.values())


def left_out_lines(left_out: Mapping[int, str]) -> tuple[str, ...]:
    """Return a line for each tool that `usable_tools` left out."""
    return tuple(f"number {index + 1}: it {why}" for index, why in left_out.items())


def usable_tools(tools: Sequence[Any]) -> tuple[tuple[ListedTool, ...], Mapping[int, str]]:
    """Return the tools in wire form that can be called by name, and for each other one its index and why not."""
    usable: dict[str, ListedTool] = {}
    left_out: dict[int, str] = {}
    for index, tool in enumerate(tools):
        why = _unusable(tool, usable)
        if why:
            left_out[index] = why
            continue
        # Keys that say nothing: a listing that was connected has none of them either.
        wire = {key: item for key, item in tool.items() if item is not None}
        usable[tool["name"]] = ListedTool(name=tool["name"], description=tool.get("description") or "", wire=wire)
    return tuple(usable.values()), left_out


def _unusable(tool: Any, known: Container[str]) -> str:
    if not isinstance(tool, dict):
        return "is not an object"
    name = tool.get("name")
    if not isinstance(name, str) or not name.strip():
        return "has no name"
    if name in known:
        return f"has the name `{name}` of another one before it"
    if not isinstance(tool.get("description") or "", str):
        return f"has the name `{name}` and a description that is not text"
    if not isinstance(tool.get("inputSchema", {}), dict):
        return f"has the name `{name}` and an `inputSchema` that is not an object"
    return ""
