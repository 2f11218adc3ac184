"""When errors keep a build from writing bundle and lock."""

from __future__ import annotations

from octoc.compiler.context import Context
from octoc.compiler.embed.encoder_findings import has_failed
from octoc.compiler.model.build import Build
from octoc.diagnostics.rule import Severity


def is_strict(build: Build, context: Context) -> bool:
    """Tell whether any error means that nothing is written."""
    settings = build.settings
    return context.strict or settings.mode == "production"


def is_withheld(build: Build, context: Context) -> bool:
    """Tell whether errors keep the build from writing."""
    return why_withheld(build, context) is not None


def why_withheld(build: Build, context: Context) -> str | None:
    """Return why errors keep the build from writing, or None when they do not.

    Without `--strict` a build writes what is sound. It writes nothing when its encoder failed, or when the errors
    leave nothing that an agent could use, or none of the agents that the workspace describes.
    """
    if context.sink.worst() != Severity.ERROR:
        return None
    if is_strict(build, context):
        count = sum(found.severity == Severity.ERROR for found in context.sink.diagnostics)
        return f"the build is strict and has {'1 error' if count == 1 else f'{count} errors'}"
    if has_failed(context):
        return "it would have no vectors"
    return _why_empty(build)


def _why_empty(build: Build) -> str | None:
    resolved = build.resolved
    if not (resolved.servers or resolved.capabilities or resolved.skills):
        return "it would have no server, capability or skill"
    # A supervisor has a registry also where no file describes one.
    described = {agent.name for agent in build.sources.agents}
    has_agent_files = any(file.kind.role == "agents" for file in build.discovered.files)
    if has_agent_files and not described & set(build.scoped.registries):
        return "it would have none of the workspace's agents"
    return None
