"""The check stage: each document against its schema, then against what a schema cannot say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from octoc.compiler.check.fixtures import check_fixtures
from octoc.compiler.check.inspection import Inspection
from octoc.compiler.check.markdown import check_agent, check_skill, is_documentation
from octoc.compiler.check.mcp import check_mcp
from octoc.compiler.check.needs import check_background, check_expanded, check_needs
from octoc.compiler.check.octomind import check_config, check_manifest, check_provider
from octoc.compiler.check.octopus import check_export
from octoc.compiler.check.schemas import validator_of
from octoc.compiler.check.scopes import check_scopes
from octoc.compiler.check.snapshots import check_snapshot
from octoc.compiler.check.translate import report_errors
from octoc.compiler.check.workspace import check_workspace
from octoc.compiler.context import Context
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Documents, FileKind, FoundFile
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.plugin import TRANSPORT_KIND_REFUSED
from octoc.plugin.transports import transport_kinds
from octoc.transport_kinds import STANDARD, TransportKind

_BEYOND_SCHEMA: Mapping[FileKind, Callable[[Mapping[str, Any], Inspection], None]] = {
    FileKind.WORKSPACE: check_workspace,
    FileKind.MCP: check_mcp,
    FileKind.CAPABILITY_CONFIG: check_config,
    FileKind.CAPABILITY_PROVIDER: check_provider,
    FileKind.AGENT_MANIFEST: check_manifest,
    FileKind.AGENT_MD: check_agent,
    FileKind.SKILL: check_skill,
    FileKind.SNAPSHOT: check_snapshot,
    FileKind.FIXTURES: check_fixtures,
    FileKind.BACKGROUND: check_background,
    FileKind.NEEDS: check_needs,
    FileKind.EXPANDED: check_expanded,
    FileKind.SCOPES: check_scopes,
    FileKind.OCTOPUS_EXPORT: check_export,
}


def check(build: Build, context: Context) -> Build:
    """Report what is unsound in each document's structure, and fill `checked` with the rest."""
    registered = transport_kinds(context.plugins)
    for refused in registered.refused:
        use = build.settings.place.child("plugins", "use")
        context.sink.report(TRANSPORT_KIND_REFUSED, refused.message, at=use, help=refused.help)
    return attrs.evolve(build, checked=sound_documents(build.documents, context.sink, registered.kinds))


def sound_documents(
    documents: Documents, sink: DiagnosticSink, kinds: Mapping[str, TransportKind] = STANDARD
) -> Documents:
    """Report what is unsound in each document's structure, and return the documents without it."""
    sound = []
    for document in documents.documents:
        values = check_values(document.file, document.values, sink, kinds)
        if values is not None:
            sound.append(document if values is document.values else attrs.evolve(document, values=values, cut=True))
    return attrs.evolve(documents, documents=tuple(sound))


def check_values(
    file: FoundFile, values: Mapping[str, Any], sink: DiagnosticSink, kinds: Mapping[str, TransportKind] = STANDARD
) -> Mapping[str, Any] | None:
    """Return the sound part of one file's values, the same object when all is sound; None when nothing is left."""
    inspection = Inspection(file=file, sink=sink, kinds=kinds)
    if file.kind is FileKind.AGENT_MD and is_documentation(values, inspection):
        return None
    report_errors(validator_of(file.kind).iter_errors(values), inspection)
    of_schema = inspection.apply(values)
    if of_schema is None:
        return None
    _BEYOND_SCHEMA[file.kind](of_schema, inspection)
    return inspection.apply(of_schema)
