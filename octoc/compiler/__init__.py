"""Compile, check and resolve a workspace. All names outside `__all__` are private.

    from octoc.compiler import build

    outcome = build(Path("fleet"))     # dist/<name>.octoc and octoc.lock
    outcome.bundle, outcome.diagnostics

A mistake in the workspace is a diagnostic in the result, and raises no exception. Each name is imported when it is
first used, so that a build without changes loads no stage.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc.compiler.checkup.check import CheckOutcome, check_workspace
    from octoc.compiler.checkup.paths import CheckedPaths, check_paths
    from octoc.compiler.model.build import Build
    from octoc.compiler.model.tokens import AgentTokens, CapabilityTokens, TokenReport
    from octoc.compiler.workspace.build import BuildOutcome, build, resolve_workspace
    from octoc.compiler.workspace.paths import find_workspace

__all__ = [
    "AgentTokens",
    "Build",
    "BuildOutcome",
    "CapabilityTokens",
    "CheckOutcome",
    "CheckedPaths",
    "TokenReport",
    "build",
    "check_paths",
    "check_workspace",
    "find_workspace",
    "resolve_workspace",
]

_MODULES = {
    "checkup.check": ("CheckOutcome", "check_workspace"),
    "checkup.paths": ("CheckedPaths", "check_paths"),
    "model.build": ("Build",),
    "model.tokens": ("AgentTokens", "CapabilityTokens", "TokenReport"),
    "workspace.build": ("BuildOutcome", "build", "resolve_workspace"),
    "workspace.paths": ("find_workspace",),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"octoc.compiler.{module}"), name)
    raise AttributeError(f"module `octoc.compiler` has no attribute `{name}`")
