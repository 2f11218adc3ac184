"""The compiler on one screen: every stage, in order, and how they are run. `build.py` decides whether they must run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from octoc.compiler.calibrate.stage import calibrate
from octoc.compiler.check.stage import check
from octoc.compiler.context import Context
from octoc.compiler.describe.stage import describe
from octoc.compiler.discover.stage import discover
from octoc.compiler.embed.stage import embed
from octoc.compiler.emit.stage import emit
from octoc.compiler.index.stage import index
from octoc.compiler.lint.stage import lint
from octoc.compiler.lint.tools.drift import check_drift
from octoc.compiler.lock.stage import lock
from octoc.compiler.model.documents import Discovered
from octoc.compiler.model.resolved import Calibrated, Embedded, Emitted, Resolved, Scoped
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.read.stage import read
from octoc.compiler.resolve.stage import resolve
from octoc.compiler.scope.stage import scope
from octoc.compiler.structure.stage import structure

Stage = Callable[[Any, Context], Any]

STAGES: tuple[Stage, ...] = (
    discover,  # settings -> files, by kind
    read,  # files -> values, with a way back to lines and columns
    check,  # values -> the sound ones
    structure,  # values -> source models
    resolve,  # names -> things
    scope,  # agents -> registries
    describe,  # registries -> prompt texts
    embed,  # triggers -> vectors
    calibrate,  # vectors -> gate
    index,  # tools -> search index
    lint,  # everything -> diagnostics
    lock,  # everything -> octoc.lock
    emit,  # everything -> <name>.octoc
)


def run_discovered(discovered: Discovered, context: Context) -> Emitted:
    """Run every stage behind discover. Mistakes of the user are in `context.sink`; each stage made what it could."""
    product = _through(discovered, STAGES[1:], context)
    assert isinstance(product, Emitted)  # noqa: S101  # the tuple above is not typed stage by stage
    return product


def run_checks(settings: WorkspaceSettings, context: Context) -> Calibrated:
    """Run what finds mistakes and writes nothing: no text is encoded and no gate is fitted."""
    return check_discovered(discover(settings, context), context)


def check_discovered(discovered: Discovered, context: Context) -> Calibrated:
    """As `run_checks`, from the files on."""
    described = _through(discovered, _until(embed)[1:], context)
    check_drift(described.scoped, context)  # a build writes the lock, and so has nothing to differ from
    return lint(Calibrated(embedded=Embedded(described=described)), context)


def run_to_resolve(settings: WorkspaceSettings, context: Context) -> Resolved:
    """Run the stages up to the one that tells servers apart, which is all that pinning needs."""
    product = _through(settings, _until(scope), context)
    assert isinstance(product, Resolved)  # noqa: S101  # as above
    return product


def run_to_scope(settings: WorkspaceSettings, context: Context) -> Scoped:
    """Run the stages up to the one that says what each agent may reach."""
    product = _through(settings, _until(describe), context)
    assert isinstance(product, Scoped)  # noqa: S101  # as above
    return product


def _until(stage: Stage) -> tuple[Stage, ...]:
    return STAGES[: STAGES.index(stage)]


def _through(product: Any, stages: tuple[Stage, ...], context: Context) -> Any:
    for stage in stages:
        product = stage(product, context)
    return product
