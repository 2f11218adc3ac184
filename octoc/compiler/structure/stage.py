"""The structure stage: each checked document as a model of what it says, in the order of discovery."""

from __future__ import annotations

from pathlib import PurePosixPath

import attrs

from octoc.compiler.context import Context
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Discovered, Document, Documents, FileKind, kept
from octoc.compiler.model.scopes import ScopeTables
from octoc.compiler.model.source import McpFileSource, SnapshotSource, Sources
from octoc.compiler.structure.converter import structured
from octoc.compiler.structure.fixtures import fixtures_source
from octoc.compiler.structure.markdown import markdown_agent, skill_source
from octoc.compiler.structure.needs import background_texts, expansion_sources, need_sources
from octoc.compiler.structure.servers import server_of_mcp
from octoc.compiler.structure.taps import capability_sources, manifest_agent
from octoc.results import ListedTool, ServerListing


def structure(build: Build, context: Context) -> Build:  # noqa: ARG001  # the shape of every stage
    """Fill `sources` with what the documents say. Report nothing: check has cut whatever could fail here."""
    return attrs.evolve(build, sources=sources_of(build.checked, build.discovered))


def sources_of(checked: Documents, discovered: Discovered) -> Sources:
    """Return the source models of checked documents, each kind in the order of discovery."""
    by_kind: dict[FileKind, list[Document]] = {kind: [] for kind in FileKind}
    for document in checked.documents:
        by_kind[document.file.kind].append(document)
    folders = {folder.folder: folder for folder in discovered.skill_folders}
    # Agents of both forms stay in the order of discovery among each other.
    agents = {FileKind.AGENT_MD: markdown_agent, FileKind.AGENT_MANIFEST: manifest_agent}
    return Sources(
        mcp_files=tuple(mcp_file(document) for document in by_kind[FileKind.MCP]),
        capabilities=capability_sources(discovered, checked.documents),
        agents=tuple(
            agents[document.file.kind](document) for document in checked.documents if document.file.kind in agents
        ),
        skills=tuple(
            skill_source(document, folders.get(PurePosixPath(document.file.display).parent.as_posix()))
            for document in by_kind[FileKind.SKILL]
        ),
        snapshots=tuple(snapshot(document) for document in by_kind[FileKind.SNAPSHOT]),
        fixtures=tuple(fixtures_source(document) for document in by_kind[FileKind.FIXTURES]),
        needs=tuple(need for document in by_kind[FileKind.NEEDS] for need in need_sources(document)),
        expansions=tuple(each for document in by_kind[FileKind.EXPANDED] for each in expansion_sources(document)),
        background=background_texts(by_kind[FileKind.BACKGROUND]),
        scopes=sum(
            (structured(ScopeTables, document.values, document.place()) for document in by_kind[FileKind.SCOPES]),
            start=discovered.settings.scope_tables,
        ),
        scopes_unsound=_scopes_unsound(discovered, by_kind[FileKind.SCOPES]),
        comments={document.file.display: document.comments for document in checked.documents if document.comments},
    )


def _scopes_unsound(discovered: Discovered, documents: list[Document]) -> bool:
    """Tell whether a table of scopes is lost: with its file, or cut out of it."""
    files = sum(file.kind is FileKind.SCOPES for file in discovered.files)
    return (
        discovered.settings.scopes_unsound
        or discovered.scopes_missed
        or len(documents) < files
        or any(document.cut for document in documents)
    )


def mcp_file(document: Document) -> McpFileSource:
    """Return the servers of one file of the `.mcp.json` family, in its order."""
    key = "servers" if "servers" in document.values else "mcpServers"
    place = document.place(key)
    servers = document.values.get(key, {})
    return McpFileSource(
        place=document.place(),
        dialect=document.file.dialect,
        servers=tuple(server_of_mcp(name, entry, place.child(name)) for name, entry in servers.items()),
        inputs=tuple(entry["id"] for _, entry in kept(document.values.get("inputs", ()))),
    )


def snapshot(document: Document) -> SnapshotSource:
    """Return a recorded listing; `digest` is that of the file."""
    values = document.values
    tools = tuple(kept(values["tools"]))
    return SnapshotSource(
        server=values["server"],
        place=document.place(),
        definition=values["definition"],
        package=values.get("package"),
        listing=ServerListing(
            server_info=values.get("serverInfo") or {},
            protocol_version=values.get("protocolVersion", ""),
            instructions=values.get("instructions"),
            tools=tuple(
                ListedTool(name=tool["name"], description=tool.get("description") or "", wire=tool) for _, tool in tools
            ),
            left_out=tuple(line for _, line in kept(values.get("leftOut", ()))),
        ),
        digest=document.digest,
        indexes=tuple(index for index, _ in tools),
    )
