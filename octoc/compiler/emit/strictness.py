"""When errors keep a build from writing bundle and lock."""

from __future__ import annotations

from octoc.compiler.context import Context
from octoc.compiler.embed.encoder_findings import has_failed
from octoc.compiler.model.documents import FileKind
from octoc.compiler.model.resolved import Calibrated, Scoped
from octoc.diagnostics.rule import Severity

_AGENT_FILES = (FileKind.AGENT_MD, FileKind.AGENT_MANIFEST)


def is_strict(calibrated: Calibrated, context: Context) -> bool:
    """Tell whether any error means that nothing is written."""
    settings = calibrated.embedded.described.scoped.resolved.sources.discovered.settings
    return context.strict or settings.mode == "production"


def is_withheld(calibrated: Calibrated, context: Context) -> bool:
    """Tell whether errors keep the build from writing."""
    return why_withheld(calibrated, context) is not None


def why_withheld(calibrated: Calibrated, context: Context) -> str | None:
    """Return why errors keep the build from writing, or None when they do not.

    Without `--strict` a build writes what is sound. It writes nothing when its encoder failed, or when the errors
    leave nothing that an agent could use, or none of the agents that the workspace describes.
    """
    if context.sink.worst() != Severity.ERROR:
        return None
    if is_strict(calibrated, context):
        count = sum(found.severity == Severity.ERROR for found in context.sink.diagnostics)
        return f"the build is strict and has {'1 error' if count == 1 else f'{count} errors'}"
    if has_failed(context):
        return "it would have no vectors"
    return _why_empty(calibrated.embedded.described.scoped)


def _why_empty(scoped: Scoped) -> str | None:
    resolved = scoped.resolved
    if not (resolved.servers or resolved.capabilities or resolved.skills):
        return "it would have no server, capability or skill"
    # A supervisor has a registry also where no file describes one.
    described = {agent.name for agent in resolved.sources.agents}
    has_agent_files = any(file.kind in _AGENT_FILES for file in resolved.sources.discovered.files)
    if has_agent_files and not described & set(scoped.registries):
        return "it would have none of the workspace's agents"
    return None
