"""`[providers]` may name `default`, as Octomind's overrides may."""

from pathlib import Path

from octoc.compiler.workspace.build import resolve_workspace
from octoc.testing import WorkspaceBuilder

TRIGGERS = ["search the web", "look it up online", "find a page about it"]


def test_the_default_that_is_chosen_is_the_first_taps_own(tmp_path: Path) -> None:
    """`default` means the tap's `default.toml`, also where that is a link, and not that of a later tap."""
    builder = WorkspaceBuilder(tmp_path, providers={"search": "default"})
    builder.capability("search", TRIGGERS, server={"command": "first"}, provider="brave", tap="first")
    builder.capability("search", TRIGGERS, server={"command": "second"}, tap="second")
    build, _, _ = resolve_workspace(builder.write())
    assert build is not None
    assert [(one.tap, one.provider) for one in build.resolved.capabilities] == [("first", "brave")]
