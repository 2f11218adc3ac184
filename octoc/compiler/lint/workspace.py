"""The input of a lint check: the build so far, and the plugins, environment and lock of this run."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from octoc.bundle.refusal import BundleError
from octoc.compiler.context import Context
from octoc.compiler.emit.strictness import is_strict
from octoc.compiler.inputs.claude.user import UserScope
from octoc.compiler.lock.conflict import has_conflict
from octoc.compiler.lock.content import LockContent
from octoc.compiler.lock.text import NewerLockError, parse
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Server
from octoc.compiler.workspace.environment import Environment
from octoc.compiler.workspace.files import regular_bytes
from octoc.compiler.workspace.paths import LOCK_FILE
from octoc.diagnostics.rule import Requirement
from octoc.plugin.manager import Plugins


@attrs.frozen(kw_only=True)
class LintRun(Build):
    """A build with the plugins, environment and lock of this run. A check that needs only the build takes a `Build`.

    Args:
        strict: whether any error prevents writing the bundle.
        has: the needs of rules that this run meets.
        environment: the variables of the environment that the bundle runs in; None unless `has` contains ENVIRONMENT.
        is_one_file: one file is checked by itself, and findings that depend on others are dropped.
        lock: the lock to compare with; None unless `has` contains LOCK.
        user: what the user's own files define; None unless the check may read them.
    """

    plugins: Plugins
    strict: bool
    is_one_file: bool
    has: frozenset[Requirement]
    environment: Environment | None
    lock: LockContent | None
    user: UserScope | None = None

    @property
    def servers(self) -> Sequence[Server]:
        return self.resolved.servers


def lint_workspace(build: Build, context: Context) -> LintRun:
    """Return the input of this run's lint checks."""
    lock = _lock(context) if context.compares_lock else None
    met = {
        Requirement.GATE: build.calibrated.gate is not None and build.embedded.triggers is not None,
        Requirement.ENVIRONMENT: context.environment is not None,
        Requirement.LOCK: lock is not None,
        Requirement.SNAPSHOTS: any(server.snapshot is not None for server in build.resolved.servers),
    }
    return LintRun(
        **attrs.asdict(build, recurse=False),
        plugins=context.plugins,
        strict=is_strict(build, context),
        is_one_file=context.one_file,
        has=frozenset(need for need, is_met in met.items() if is_met),
        environment=context.environment,
        lock=lock,
        user=context.user,
    )


def _lock(context: Context) -> LockContent | None:
    try:
        text = regular_bytes(context.root / LOCK_FILE).decode("utf-8")
        return None if has_conflict(text, context.sink) else parse(text)
    except (OSError, UnicodeDecodeError, BundleError, NewerLockError):
        return None  # the lock stage reports the mistake
