"""Recorded tools against `octoc.lock`: what was pinned anew and not built since."""

from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.workspace.build import build
from octoc.diagnostics.rule import Severity
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

OBJECT: dict[str, Any] = {"type": "object"}
NOW = {"name": "now", "description": "The time", "inputSchema": OBJECT}
ZONES = {"name": "zones", "description": "The zones", "inputSchema": OBJECT}


@pytest.fixture
def built(builder: WorkspaceBuilder) -> WorkspaceBuilder:
    """A workspace that was built with two tools, so that its lock has their pins."""
    builder.snapshot("time", [NOW, ZONES])
    build(builder.write(), plugins=plugins_of())
    return builder


def drift(root: Path) -> list[tuple[str, str, Severity]]:
    """What a check says of tools against the lock."""
    found = check_workspace(root).diagnostics
    return [(one.rule.code, one.message, one.severity) for one in found if "OCT484" <= one.rule.code <= "OCT486"]


def test_what_was_built_does_not_drift(built: WorkspaceBuilder) -> None:
    """Right after a build there is nothing to say."""
    assert drift(built.root) == []


def test_gone_new_and_changed_tools_are_told_apart(built: WorkspaceBuilder) -> None:
    """A tool that is gone is an error, a new one, another form or description a warning, a title an info."""
    assert drift(built.root) == []  # so that the cache has an answer that is not this one
    built.snapshot("time", [{**NOW, "inputSchema": {**OBJECT, "properties": {"zone": {}}}}, {**NOW, "name": "new"}])
    assert drift(built.write()) == [
        ("OCT484", "tool `time/zones` is in `octoc.lock` and is no longer recorded", Severity.ERROR),
        ("OCT485", "tool `time/now` has another input schema since `octoc.lock` was written", Severity.WARNING),
        ("OCT485", "tool `time/new` is new since `octoc.lock` was written", Severity.WARNING),
    ]
    built.snapshot("time", [{**NOW, "description": "The hour"}, {**ZONES, "title": "Zones"}])
    assert drift(built.write()) == [
        ("OCT486", "tool `time/now` has another description since `octoc.lock` was written", Severity.WARNING),
        (
            "OCT486",
            "tool `time/zones` has another title or other members since `octoc.lock` was written",
            Severity.INFO,
        ),
    ]
    built.snapshot("time", [{**NOW, "annotations": {"readOnlyHint": True}}, {**ZONES, "outputSchema": OBJECT}])
    assert drift(built.write()) == [
        ("OCT485", "tool `time/now` has other annotations since `octoc.lock` was written", Severity.WARNING),
        ("OCT485", "tool `time/zones` has another output schema since `octoc.lock` was written", Severity.WARNING),
    ]


def test_a_snapshot_that_is_gone_is_one_finding(built: WorkspaceBuilder) -> None:
    """The lock has tools of a server without a snapshot, whatever other snapshots there are."""
    (built.root / "snapshots/time.json").unlink()
    message = "server `time` has 2 tools in `octoc.lock`, and its snapshot is gone"
    assert drift(built.root) == [("OCT484", message, Severity.ERROR)]


def test_a_tool_that_the_server_s_filter_leaves_out_does_not_drift(built: WorkspaceBuilder) -> None:
    """No agent has the tool, so its absence is not reported; that of a tool which passes the filter is."""
    built.server("time", "time-mcp", include_tools=["now"]).snapshot("time", [NOW])
    assert drift(built.write()) == []
    built.snapshot("time", [ZONES])
    assert [code for code, _, _ in drift(built.write())] == ["OCT484"]


def test_a_build_takes_what_is_recorded(built: WorkspaceBuilder) -> None:
    """A build reports no drift, writes the lock, and the check after it, of the same files, has nothing to say."""
    built.snapshot("time", [NOW])
    root = built.write()
    assert [code for code, _, _ in drift(root)] == ["OCT484"]
    outcome = build(root, plugins=plugins_of())
    assert not [one for one in outcome.diagnostics if "OCT484" <= one.rule.code <= "OCT486"]
    assert drift(root) == []


@pytest.mark.parametrize("text", ["", "no lock", 'version = 99\n[settings]\ndigest = ""\n'])
def test_a_lock_that_cannot_be_read_is_the_builds_affair(built: WorkspaceBuilder, text: str) -> None:
    """Without a lock that can be read a check says nothing of drift."""
    (built.root / "octoc.lock").write_text(text, encoding="utf-8")
    assert drift(built.root) == []
