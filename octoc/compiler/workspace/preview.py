"""A build that leaves the workspace as it is: what `octoc build` would make now, for a report on it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import attrs

from octoc.compiler.cache.store import Cache, workspace_cache
from octoc.compiler.context import Progress, no_progress
from octoc.compiler.discover.stage import find_files
from octoc.compiler.model.build import Build
from octoc.compiler.model.tokens import TokenReport
from octoc.compiler.workspace.load import load_workspace
from octoc.diagnostics.model import Diagnostic
from octoc.plugin.folders import without_user_cache

_PACKAGES = ("numpy", "sklearn", "scipy", "threadpoolctl")
"""What a build needs and a check does not, except the encoder."""


@attrs.frozen(kw_only=True)
class Preview:
    """The build, what was found, and what tools cost.

    Args:
        build: None when octoc.toml cannot be read.
        bundle: where the bundle was written; None when errors prevent it, or with `lacks`.
        lacks: the package without which only a check ran, so that nothing was compared with octoc.lock but recorded
            tools; empty if the build is whole.
    """

    build: Build | None
    diagnostics: tuple[Diagnostic, ...]
    tokens: TokenReport = attrs.field(factory=TokenReport)
    bundle: Path | None = None
    lacks: str = ""


def preview(root: Path, output: Path, *, progress: Progress = no_progress, use_cache: bool = True) -> Preview:
    """Build the workspace in `root`, and write only the bundle, to `output`.

    The findings are those of a build and of a check: recorded tools are compared with octoc.lock. Without an encoder
    the bundle routes by words; without the packages of a build there is only a check.
    """
    if use_cache:
        return _preview(root, output, Cache(workspace_cache(root)), progress)
    with without_user_cache():
        return _preview(root, output, Cache(None), progress)


def _preview(root: Path, output: Path, cache: Cache, progress: Progress) -> Preview:
    loaded = load_workspace(root, progress=progress, cache=cache)
    if loaded.settings is None:
        return Preview(build=None, diagnostics=loaded.context.sink.diagnostics)
    # Not at the top: a workspace whose settings cannot be read needs no stage.
    from octoc.compiler.pipeline import run_build, run_checks
    from octoc.compiler.workspace.token_report import token_report

    settings = loaded.settings
    context = attrs.evolve(
        loaded.context,
        previews=True,
        compares_lock=True,
        strict=settings.mode == "production",
        allow_degraded=True,
        output=output,
    )
    lacks = next((name for name in _PACKAGES if importlib.util.find_spec(name) is None), "")
    runs = run_checks if lacks else run_build
    built = runs(Build(settings=settings, discovered=find_files(settings, context)), context)
    return Preview(
        build=built,
        diagnostics=context.sink.diagnostics,
        tokens=token_report(built, context.plugins),
        bundle=None if lacks or built.emitted.path is None else output,
        lacks=lacks,
    )
