"""`octoc show agents`: the tools that an agent expects of its host."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from octoc.plugin.manager import plugins_of
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder


def test_host_tools_of_an_agent(tmp_path: Path, octoc: Callable[..., Any]) -> None:
    """`octoc show` and the session name an agent's host tools."""
    builder = WorkspaceBuilder(tmp_path, plugins={"use": []})
    builder.server("docs", "docs-mcp").snapshot("docs", ["search"])
    text = "---\nname: reader\ndescription: Reads\ntools: Read, Grep, mcp__docs__search\n---\nRead.\n"
    outcome = builder.file("agents/reader/AGENT.md", text).build(plugins_of())
    bundle = str(outcome.bundle)
    done = octoc("show", "agents", "--agent", "reader", "--json", "--bundle", bundle)
    assert json.loads(done.out)["agents"][0]["host_tools"] == ["Read", "Grep"]
    assert "host tools" in octoc("show", "agents", "--bundle", bundle).out
    assert Runtime.open(bundle, plugins=plugins_of()).session("reader").host_tools == ("Read", "Grep")
