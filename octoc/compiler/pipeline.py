"""The compiler on one screen: every stage, in order. `workspace/build.py` decides whether they must run."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from octoc.compiler.calibrate.stage import calibrate
from octoc.compiler.check.stage import check
from octoc.compiler.context import Context
from octoc.compiler.describe.stage import describe
from octoc.compiler.discover.stage import discover
from octoc.compiler.embed.stage import embed
from octoc.compiler.emit.stage import emit
from octoc.compiler.index.stage import index
from octoc.compiler.lint.stage import lint
from octoc.compiler.lock.stage import lock
from octoc.compiler.model.build import Build
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.read.stage import read
from octoc.compiler.resolve.stage import resolve
from octoc.compiler.scope.stage import scope
from octoc.compiler.structure.stage import structure

Stage = Callable[[Build, Context], Build]
"""Takes the build so far, and returns it with the slot of the stage filled. Reports a user's mistakes to the sink."""

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


def run_build(build: Build, context: Context) -> Build:
    """Run every stage after discover, and return the whole build."""
    return _through(build, STAGES[1:], context)


def run_checks(build: Build, context: Context) -> Build:
    """Run the stages that find mistakes in discovered files. Write nothing, encode no text and train no gate."""
    build = _through(build, _until(embed)[1:], context)
    return lint(build, attrs.evolve(context, compares_lock=True))


def run_to_resolve(settings: WorkspaceSettings, context: Context) -> Build:
    """Run the stages up to resolve, which is all that pinning needs."""
    return _through(Build(settings=settings), _until(scope), context)


def run_to_scope(settings: WorkspaceSettings, context: Context) -> Build:
    """Run the stages up to scope, which makes the agents' registries."""
    return _through(Build(settings=settings), _until(describe), context)


def _until(stage: Stage) -> tuple[Stage, ...]:
    return STAGES[: STAGES.index(stage)]


def _through(build: Build, stages: tuple[Stage, ...], context: Context) -> Build:
    for stage in stages:
        build = stage(build, context)
    return build
