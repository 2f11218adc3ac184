"""What the command line and hosts call: build, check, resolve. Decides whether the stages must run at all."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from octoc.bundle.digest import sha256_hex
from octoc.compiler.cache import Cache
from octoc.compiler.context import Context, Progress, no_progress
from octoc.compiler.discover import discover
from octoc.compiler.memo import Outcome as Remembered
from octoc.compiler.memo import build_key, recall, remember, still_there
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.read import SpanIndex, text_reader
from octoc.compiler.read.stage import input_digests
from octoc.compiler.structure.settings import load_settings
from octoc.diagnostics.model import Diagnostic, DiagnosticSink, Severity
from octoc.plugin.manager import Plugins, load_plugins

if TYPE_CHECKING:
    from octoc.compiler.model.resolved import Resolved

LOCK_FILE = "octoc.lock"
CACHE_FOLDER = ".octoc/cache"
# What takes part in a build beside octoc and its plugins: another version may give other vectors or another gate.
_PACKAGES = ("numpy", "onnxruntime", "scikit-learn")


@attrs.frozen(kw_only=True)
class Outcome:
    """What a build or a check came to.

    Args:
        bundle: the bundle's path, if one is there and belongs to these inputs; None after a check or a refusal.
        changes: what is new against the lock that was there, a line each.
        unchanged: no input changed since the last build, and no stage was run.
    """

    name: str
    diagnostics: tuple[Diagnostic, ...]
    bundle: Path | None = None
    digest: str = ""
    size: int = 0
    changes: tuple[str, ...] = ()
    unchanged: bool = False

    @property
    def worst(self) -> Severity | None:
        return max((found.severity for found in self.diagnostics), default=None)


def build(
    root: Path,
    *,
    locked: bool = False,
    strict: bool = False,
    output: Path | None = None,
    progress: Progress = no_progress,
    plugins: Plugins | None = None,
    use_cache: bool = True,
) -> Outcome:
    """Compile the workspace in `root` to its bundle and lock.

    Args:
        locked: write nothing; each reason why the lock is stale is an error.
        strict: any error means no bundle. Always so in production mode.
        output: the bundle's path instead of `dist/<name>.octoc`.
    """
    opened = _open(root, progress, plugins, Cache(root / CACHE_FOLDER if use_cache else None))
    if opened.settings is None:
        return _refused(root, opened)
    settings, context = opened.settings, opened.context
    target = bundle_path(root, settings) if output is None else output.absolute()
    context = attrs.evolve(context, locked=locked, strict=strict or settings.mode == "production", output=target)
    before = context.sink.diagnostics
    discovered = discover(settings, context)
    key = build_key(
        discovered,
        input_digests(discovered),
        versions=_versions(context.plugins),
        options={
            "locked": locked,
            "strict": context.strict,
            "output": target.name,
            "found": [[found.rule.code, found.message] for found in before],
        },
    )
    known = recall(context.cache, key)
    if known is not None and still_there(known, bundle=target, lock=root / LOCK_FILE):
        return Outcome(
            name=settings.name,
            diagnostics=known.diagnostics,
            bundle=None if known.bundle_digest is None else target,
            digest=known.bundle_digest or "",
            size=known.bundle_size,
            unchanged=True,
        )
    # Not at the top: a build that has nothing to do must not pay for the stages' imports.
    from octoc.compiler.pipeline import run_discovered

    emitted = run_discovered(discovered, context)
    lock = root / LOCK_FILE
    lock_bytes = lock.read_bytes() if lock.is_file() else None
    remember(
        context.cache,
        key,
        Remembered(
            diagnostics=context.sink.diagnostics,
            bundle_digest=emitted.digest if emitted.path is not None else None,
            bundle_size=emitted.size,
            lock_digest=None if lock_bytes is None else sha256_hex(lock_bytes),
            lock_size=len(lock_bytes or b""),
        ),
    )
    return Outcome(
        name=settings.name,
        diagnostics=context.sink.diagnostics,
        bundle=target if emitted.path is not None else None,
        digest=emitted.digest,
        size=emitted.size,
        changes=emitted.locked.changes,
    )


def check(root: Path, *, plugins: Plugins | None = None, progress: Progress = no_progress) -> Outcome:
    """Find every mistake in the workspace in `root`; write nothing and encode nothing."""
    opened = _open(root, progress, plugins, Cache(None))
    if opened.settings is None:
        return _refused(root, opened)
    from octoc.compiler.pipeline import run_checks

    run_checks(opened.settings, opened.context)
    return Outcome(name=opened.settings.name, diagnostics=opened.context.sink.diagnostics)


def resolve_workspace(
    root: Path, *, plugins: Plugins | None = None
) -> tuple[Resolved | None, tuple[Diagnostic, ...], Plugins | None]:
    """Return what pinning needs: the servers and capabilities, what was found on the way, and the plugins."""
    opened = _open(root, no_progress, plugins, Cache(None))
    if opened.settings is None:
        return None, _refused(root, opened).diagnostics, None
    from octoc.compiler.pipeline import run_to_resolve

    resolved = run_to_resolve(opened.settings, opened.context)
    return resolved, opened.context.sink.diagnostics, opened.context.plugins


def bundle_path(root: Path, settings: WorkspaceSettings) -> Path:
    """Return where a workspace's bundle is written unless told otherwise."""
    return root / "dist" / f"{settings.name}.octoc"


def current_inputs(root: Path) -> tuple[Path, str] | None:
    """Return where the workspace's bundle belongs and the digest of its inputs now; None when octoc.toml is unsound."""
    opened = _open(root, no_progress, None, Cache(None))
    if opened.settings is None:
        return None
    from octoc.compiler.lock.inputs import inputs_digest

    discovered = discover(opened.settings, opened.context)
    return bundle_path(root, opened.settings), inputs_digest(discovered, input_digests(discovered))


@attrs.frozen(kw_only=True)
class _Opened:
    settings: WorkspaceSettings | None
    context: Context


def _open(root: Path, progress: Progress, plugins: Plugins | None, cache: Cache) -> _Opened:
    sink = DiagnosticSink(SpanIndex(text_reader(root)))
    settings = load_settings(root, sink)
    named = load_plugins(settings.plugins if settings is not None else ()) if plugins is None else plugins
    context = Context(root=root, sink=sink, cache=cache, plugins=named, progress=progress)
    return _Opened(settings=settings, context=context)


def _refused(root: Path, opened: _Opened) -> Outcome:
    return Outcome(name=root.name, diagnostics=opened.context.sink.diagnostics)


def _versions(plugins: Plugins) -> dict[str, str]:
    versions = {"python": ".".join(map(str, sys.version_info[:3])), **plugins.versions()}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = ""
    return versions
