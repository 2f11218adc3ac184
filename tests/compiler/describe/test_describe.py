"""Stage describe: the section of a prompt that lists an agent's servers, byte for byte as Octo writes it."""

from __future__ import annotations

from pathlib import Path

from octoc.bundle.reader import OpenBundle
from octoc.testing import WorkspaceBuilder

SECTION = """\
## MCP Tool Access

MCP tools are available via `find_tools(query)` and `call_mcp_tool(name, args)`.
Workflow: search for tools first, then call them with the exact name and arguments returned by find_tools.

Available servers:
- **clock** (1 tools): now
- **late** (its tools are known once it is connected)
- **tracker** (7 tools): do_0, do_1, do_2, do_3, do_4 (+2 more)"""


def test_the_section_names_servers_and_their_first_tools(tmp_path: Path) -> None:
    """A line has at most five names of tools, and says which servers have no recorded tools."""
    workspace = WorkspaceBuilder(tmp_path)
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
        assert opened.text(finder.servers_prompt) == SECTION
