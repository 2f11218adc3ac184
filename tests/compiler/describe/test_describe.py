"""Stage describe: the prompt section on servers; with profile `octo`, byte for byte as Octo writes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from octoc.bundle.reader import OpenBundle
from octoc.formats.own_tools import CALL_MCP_TOOL, FIND_TOOLS
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder

SECTION = """\
## MCP Tool Access

MCP tools are available via `find_tools(query)` and `{call}`.
Workflow: search for tools first, then call them with the exact name and arguments returned by find_tools.

Available servers:
- **clock** (1 tools): now
- **late** (its tools are known once it is connected)
- **tracker** (7 tools): do_0, do_1, do_2, do_3, do_4 (+2 more)"""


@pytest.mark.parametrize(
    "profile, call",
    [("octo", "call_mcp_tool(name, args)"), ("octoc", "call_mcp_tool(tool_name, arguments)")],
)
def test_the_section_names_servers_and_their_first_tools(tmp_path: Path, profile: str, call: str) -> None:
    """A line has at most five names of tools, and says which servers have no recorded tools."""
    workspace = WorkspaceBuilder(tmp_path, results={"profile": profile})
    for name, count in (("clock", 1), ("late", 0), ("tracker", 7)):
        workspace.server(name, "none")
        if count:
            names = ["now"] if count == 1 else [f"do_{number}" for number in range(count)]
            workspace.snapshot(
                name, [{"name": one, "description": one, "inputSchema": {"type": "object"}} for one in names]
            )
    workspace.agent("finder", type="specialist")
    bundle = workspace.build().bundle
    assert bundle is not None
    with OpenBundle.open(bundle) as opened:
        (finder,) = (agent for agent in opened.bundle.agents if agent.name == "finder")
        assert opened.text(finder.servers_prompt) == SECTION.format(call=call)


def test_the_section_names_the_arguments_of_the_tools(tmp_path: Path) -> None:
    """A model that calls `find_tools` and `call_mcp_tool` as its prompt shows them fits their schemas."""
    workspace = WorkspaceBuilder(tmp_path, search={"bind": "never"}).server("clock", "none").snapshot("clock", ["now"])
    bundle = workspace.build().bundle
    assert bundle is not None
    session = Runtime.open(bundle).session()
    schemas = {tool["name"]: tool["inputSchema"]["properties"] for tool in session.tools("mcp")}
    shown = dict(re.findall(r"`(\w+)\((.*?)\)`", session.servers_prompt))
    assert shown.keys() == {FIND_TOOLS, CALL_MCP_TOOL}
    assert schemas[CALL_MCP_TOOL].keys() == set(shown[CALL_MCP_TOOL].split(", "))
    assert shown[FIND_TOOLS] in schemas[FIND_TOOLS]
