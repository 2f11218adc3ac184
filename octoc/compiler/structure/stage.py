"""The structure stage: each checked document as a model of what it says, in the order of discovery."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath
from typing import Any

import attrs

from octoc.compiler.context import Context
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Discovered, Document, Documents, kept
from octoc.compiler.model.scopes import ScopeTables
from octoc.compiler.model.source import McpFileSource, SnapshotSource, Sources
from octoc.compiler.pin.snapshots import OFFER_LISTS, offers_of
from octoc.compiler.structure.converter import structured
from octoc.compiler.structure.servers import server_of_mcp
from octoc.compiler.structure.taps import capability_sources
from octoc.diagnostics.model import KeyPath
from octoc.plugin.file_kinds import Role, load_function
from octoc.results import ListedTool, ServerListing


def structure(build: Build, context: Context) -> Build:  # noqa: ARG001  # the shape of every stage
    """Fill `sources` with what the documents say. Report nothing: check has cut whatever could fail here."""
    return attrs.evolve(build, sources=sources_of(build.checked, build.discovered))


def sources_of(checked: Documents, discovered: Discovered) -> Sources:
    """Return the source models of checked documents, each role in the order of discovery."""
    by_role: dict[Role, list[Any]] = defaultdict(list)
    for document in checked.documents:
        kind = document.file.kind
        if kind.structure is not None:
            made = load_function(kind.structure)(document)
            by_role[kind.role].extend(made if isinstance(made, tuple) else (made,))
    folders = {folder.folder: folder for folder in discovered.skill_folders}
    return Sources(
        mcp_files=tuple(by_role["servers"]),
        capabilities=capability_sources(discovered, checked.documents),
        agents=tuple(by_role["agents"]),
        skills=tuple(
            attrs.evolve(skill, folder=folders.get(PurePosixPath(skill.place.file).parent.as_posix()))
            for skill in by_role["skills"]
        ),
        snapshots=tuple(by_role["snapshots"]),
        permissions=tuple(by_role["permissions"]),
        fixtures=tuple(by_role["fixtures"]),
        needs=tuple(by_role["needs"]),
        expansions=tuple(by_role["expansions"]),
        background=tuple(dict.fromkeys(by_role["background"])),
        scopes=sum(by_role["scopes"], start=discovered.settings.scope_tables),
        scopes_unsound=_scopes_unsound(checked, discovered),
        comments={document.file.display: document.comments for document in checked.documents if document.comments},
    )


def _scopes_unsound(checked: Documents, discovered: Discovered) -> bool:
    """Tell whether a table of scopes is lost: with its file, or cut out of it."""
    files = sum(file.kind.role == "scopes" for file in discovered.files)
    documents = [document for document in checked.documents if document.file.kind.role == "scopes"]
    return (
        discovered.settings.scopes_unsound
        or discovered.scopes_missed
        or len(documents) < files
        or any(document.cut for document in documents)
    )


def scope_tables(document: Document) -> ScopeTables:
    """Return the tables of one file of scopes."""
    return structured(ScopeTables, document.values, document.place())


def mcp_file(document: Document) -> McpFileSource:
    """Return the servers of one file of the `.mcp.json` family, in its order."""
    key = "servers" if "servers" in document.values else "mcpServers"
    place = document.place(key)
    servers = document.values.get(key, {})
    written = _written(document, key)
    return McpFileSource(
        place=document.place(),
        dialect=document.file.dialect,
        servers=tuple(
            server_of_mcp(name, entry, place.child(name), written.get(name)) for name, entry in servers.items()
        ),
        inputs=tuple(entry["id"] for _, entry in kept(document.values.get("inputs", ()))),
    )


def _written(document: Document, key: str) -> dict[str | int, dict[KeyPath, KeyPath]]:
    """Return the keys of each server that the file calls otherwise than octoc does."""
    if document.converted is None:
        return {}
    written: dict[str | int, dict[KeyPath, KeyPath]] = defaultdict(dict)
    for (_, *inside), origin in document.converted.moved.items():
        if len(inside) > 1:
            server = document.converted.origin((key, inside[0]))
            written[inside[0]][tuple(inside[1:])] = origin[len(server) :]
    return written


def snapshot(document: Document) -> SnapshotSource:
    """Return a recorded listing; `digest` is that of the file."""
    values = document.values
    tools = tuple(kept(values["tools"]))
    return structured(
        SnapshotSource,
        values,
        document.place(),
        listing=ServerListing(
            server_info=values.get("serverInfo") or {},
            protocol_version=values.get("protocolVersion", ""),
            instructions=values.get("instructions"),
            tools=tuple(
                ListedTool(name=tool["name"], description=tool.get("description") or "", wire=tool) for _, tool in tools
            ),
            left_out=tuple(line for _, line in kept(values.get("leftOut", ()))),
            offers=offers_of(
                {key: [wire for _, wire in kept(values[key])] for key in OFFER_LISTS.values() if values.get(key)}
            ),
            features=tuple(name for _, name in kept(values.get("features", ()))),
        ),
        digest=document.digest,
        indexes=tuple(index for index, _ in tools),
    )
