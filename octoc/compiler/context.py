"""The context of every stage: the sink for findings, the cache, the plugins, and the options of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from octoc.compiler.inputs.registry import FileKinds
from octoc.diagnostics.model import DiagnosticSink

if TYPE_CHECKING:
    from octoc.compiler.cache.store import Cache
    from octoc.compiler.inputs.claude.user import UserScope
    from octoc.compiler.policy.lint_policy import LintPolicy
    from octoc.compiler.read.spans import SpanIndex
    from octoc.compiler.workspace.environment import Environment
    from octoc.plugin.manager import Plugins

Progress = Callable[[str, int, int], None]
"""Called with the name of the work, the number of finished steps, and the number of all steps."""


def no_progress(what: str, done: int, total: int) -> None:
    """Show no progress."""


@attrs.frozen(kw_only=True)
class Context:
    """The context of one run.

    Args:
        root: the workspace's folder, absolute.
        locked: write nothing, and report each reason why the lock is stale.
        frozen: take the lock as it is, and neither compare nor write it.
        previews: compare with the lock as a build does, and write only the bundle.
        strict: any error prevents the bundle, and the old file stays; always on in production mode.
        allow_degraded: a missing or failing encoder is a warning instead of an error that prevents the bundle.
        output: the bundle's path; None is `dist/<name>.octoc`.
        overlay: display path -> bytes to read instead of the file, to try a fix before writing it.
        policy: changes the severity of findings and suppresses them; None keeps all unchanged.
        file_kinds: the kinds of files that are read, and the forms in which clients write them.
        environment: the variables where the bundle will run; None if they are unknown.
        compares_lock: compare recorded tools with the lock; a build, which writes the lock, does not.
        user: what the user's own files define; None where they may not be read.
        spans: turns places into lines and columns, and knows how each file is written.
        one_file: check a file by itself, so that only rules of scope FILE apply.
    """

    root: Path
    sink: DiagnosticSink
    cache: Cache
    plugins: Plugins
    progress: Progress = no_progress
    locked: bool = False
    frozen: bool = False
    previews: bool = False
    strict: bool = False
    allow_degraded: bool = False
    output: Path | None = None
    overlay: Mapping[str, bytes] = attrs.field(factory=dict)
    policy: LintPolicy | None = None
    environment: Environment | None = None
    compares_lock: bool = False
    user: UserScope | None = None
    spans: SpanIndex | None = None
    one_file: bool = False
    file_kinds: FileKinds = attrs.field(factory=FileKinds)
