"""Opens a workspace: its settings, and the surroundings of every stage."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs

from octoc.compiler.cache.store import Cache
from octoc.compiler.context import Context, Progress, no_progress
from octoc.compiler.inputs.registry import FileKinds
from octoc.compiler.model.settings import USUAL_PLUGINS, LintSettings, WorkspaceSettings
from octoc.compiler.policy.lint_policy import policy_of
from octoc.compiler.policy.names import report_names
from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.text import text_reader
from octoc.compiler.structure.settings import load_settings
from octoc.diagnostics.model import DiagnosticSink
from octoc.plugin.manager import Plugins, load_plugins
from octoc.plugin.rules import rule_finder

# What takes part in a build beside octoc and its plugins: another version may give other vectors or another gate.
_PACKAGES = ("numpy", "onnxruntime", "scikit-learn")
NO_OVERLAY: Mapping[str, bytes] = {}


@attrs.frozen(kw_only=True)
class LoadedWorkspace:
    """A workspace's settings, None when its octoc.toml cannot be read, and what the stages get."""

    settings: WorkspaceSettings | None
    context: Context


def load_workspace(
    root: Path,
    *,
    cache: Cache,
    progress: Progress = no_progress,
    plugins: Plugins | None = None,
    overlay: Mapping[str, bytes] = NO_OVERLAY,
    spans: SpanIndex | None = None,
) -> LoadedWorkspace:
    """Read octoc.toml in `root`, report what is unsound in it, and load the plugins that it names.

    Args:
        overlay: display path -> bytes that are read instead of what is on disk.
        spans: learns how each file is written, for findings of the caller's own.
    """
    read_text = text_reader(root, overlay)
    locate = SpanIndex(read_text) if spans is None else spans
    early = DiagnosticSink(locate)
    settings = load_settings(root, early, cache=cache, overlay=overlay)
    if settings is not None and any(tap.git for tap in settings.taps):
        from octoc.compiler.taps.store import with_fetched_taps  # few workspaces have taps from git

        settings = with_fetched_taps(settings, root)
    named = load_plugins(settings.plugins if settings is not None else ()) if plugins is None else plugins
    rule_of = rule_finder(named)
    # What was found before the settings were known is judged by them like all else.
    policy = policy_of(settings.lint if settings is not None else LintSettings(), read_text, rule_of)
    sink = DiagnosticSink(locate, policy)
    sink.extend(tuple(kept for found in early.diagnostics if (kept := policy(found)) is not None))
    if settings is not None:
        report_names(settings, rule_of, sink)
    # The plugins that every workspace has add no kind of file, and asking them imports them.
    is_usual = plugins is None and (settings is None or set(settings.plugins) <= set(USUAL_PLUGINS))
    context = Context(
        root=root,
        sink=sink,
        cache=cache,
        plugins=named,
        progress=progress,
        overlay=overlay,
        policy=policy,
        spans=locate,
        file_kinds=FileKinds(None if is_usual else named),
    )
    return LoadedWorkspace(settings=settings, context=context)


def versions_of(plugins: Plugins) -> dict[str, str]:
    """Return the versions of all that takes part in an answer, beside octoc's own."""
    versions = {"python": ".".join(map(str, sys.version_info[:3])), **plugins.versions()}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = ""
    return versions
