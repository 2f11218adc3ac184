"""Workspaces with recorded tools, and what lint finds in them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_workspace
from octoc.diagnostics.model import Diagnostic
from octoc.testing import WorkspaceBuilder

Linted = Callable[..., list[Diagnostic]]


@pytest.fixture
def builder(tmp_path: Path) -> WorkspaceBuilder:
    """A workspace with a server `time`, of which nothing is recorded yet."""
    return WorkspaceBuilder(tmp_path, name="acme").server("time", "time-server")


@pytest.fixture
def linted(builder: WorkspaceBuilder) -> Linted:
    """A function from tools of `time` to what lint of tools finds (OCT470 to OCT489)."""

    def run(*tools: str | Mapping[str, Any], **more: Any) -> list[Diagnostic]:
        root = builder.snapshot("time", tools, **more).write()
        found = check_workspace(root, use_cache=False).diagnostics
        return [one for one in found if "OCT470" <= one.rule.code <= "OCT489"]

    return run


@pytest.fixture
def schema_findings(linted: Linted) -> Callable[[Any], list[tuple[str, str]]]:
    """A function from an input schema to the codes and messages of what is found in it."""

    def run(schema: Any) -> list[tuple[str, str]]:
        tool = {"name": "now", "description": "The time", "inputSchema": schema}
        return [(found.rule.code, found.message) for found in linted(tool)]

    return run
