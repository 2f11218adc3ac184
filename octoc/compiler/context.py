"""The surroundings of every stage: where to report, the cache, the plugins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from octoc.compiler.inputs.registry import FileKinds
from octoc.diagnostics.model import DiagnosticSink

if TYPE_CHECKING:
    from octoc.compiler.cache.store import Cache
    from octoc.compiler.policy.judge import LintPolicy
    from octoc.compiler.read.spans import SpanIndex
    from octoc.compiler.workspace.environment import Environment
    from octoc.plugin.manager import Plugins

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and of how much."""


def no_progress(what: str, done: int, total: int) -> None:
    """Say nothing."""


@attrs.frozen(kw_only=True)
class Context:
    """One build's surroundings.

    Args:
        root: the workspace's folder, absolute.
        locked: write nothing, and report each reason why the lock is stale.
        strict: any error means no bundle, and the old file stays; always on in production mode.
        allow_degraded: an encoder that is missing or fails is a warning, not an error that withholds the bundle.
        output: the bundle's path; None is `dist/<name>.octoc`.
        overlay: display path -> bytes that are read instead of what is on disk: a fix is tried before it is written.
        policy: what `sink` asks about each finding; None keeps them all as they are.
        file_kinds: the kinds of files that are read, and the forms in which clients write them.
        environment: what the place of running has, where someone said; None says nothing of it.
        compares_lock: compare what is recorded with the lock; a build, which writes the lock, does not.
        spans: turns places into lines and columns; it learns how each file is written.
        one_file: a file is checked by itself, so that only rules of scope FILE apply.
    """

    root: Path
    sink: DiagnosticSink
    cache: Cache
    plugins: Plugins
    progress: Progress = no_progress
    locked: bool = False
    strict: bool = False
    allow_degraded: bool = False
    output: Path | None = None
    overlay: Mapping[str, bytes] = attrs.field(factory=dict)
    policy: LintPolicy | None = None
    environment: Environment | None = None
    compares_lock: bool = False
    spans: SpanIndex | None = None
    one_file: bool = False
    file_kinds: FileKinds = attrs.field(factory=FileKinds)
