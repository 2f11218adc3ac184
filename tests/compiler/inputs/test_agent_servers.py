"""Servers that agents of clients define for themselves."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compiler.dialects import findings, servers_of

TIME = {"transport": "stdio", "command": "uvx", "args": ("mcp-server-time==2026.10.19",)}
PROGRAM = {"command": "uvx", "args": ["mcp-server-time==2026.10.19"]}
COPILOT = """---
name: clock
description: Tells the time.
tools: [read, time/get_current_time]
mcp-servers:
  time:
    type: local
    command: uvx
    args: [mcp-server-time==2026.10.19]
    tools: ["*"]
    env:
      A_TOKEN: COPILOT_MCP_A
      B_TOKEN: ${{ secrets.COPILOT_MCP_B }}
      C_TOKEN: $COPILOT_MCP_C
---
Tell the time.
"""
GEMINI = """---
name: clock
description: Tells the time.
mcp_servers:
  time: {command: uvx, args: [mcp-server-time==2026.10.19], trust: true}
---
Tell the time.
"""
CODEX = """name = "clock"
description = "Tells the time."
developer_instructions = "Tell the time."

[mcp_servers.time]
command = "uvx"
args = ["mcp-server-time==2026.10.19"]
"""
JSON_AGENT = {"name": "clock", "mcpServers": {"time": PROGRAM}, "tools": ["read", "@time"]}
CASES: list[tuple[str, str, dict[str, Any]]] = [
    (
        ".github/agents/clock.agent.md",
        COPILOT,
        {
            **TIME,
            "env": {"A_TOKEN": "${COPILOT_MCP_A}", "B_TOKEN": "${COPILOT_MCP_B}", "C_TOKEN": "${COPILOT_MCP_C}"},
        },
    ),
    (".gemini/agents/clock.md", GEMINI, TIME),
    (".codex/agents/clock.toml", CODEX, TIME),
    (".kiro/agents/clock.json", json.dumps(JSON_AGENT), TIME),
    (".amazonq/cli-agents/clock.json", json.dumps({**JSON_AGENT, "tools": ["fs_read", "@time"]}), TIME),
]


@pytest.mark.parametrize("path, text, expected", CASES, ids=[path for path, _, _ in CASES])
def test_a_server_of_an_agent(path: str, text: str, expected: dict[str, Any], tmp_path: Path) -> None:
    """The agent's server is read in the client's form, and a sound file has no error and no warning."""
    assert servers_of(path, text) == {"time": expected}
    assert findings(tmp_path, path, text) == []


@pytest.mark.parametrize(
    "path, old, new, expected",
    [
        (CASES[0][0], "COPILOT_MCP_A", "q8hJf93kLmZ0pRtY7vWx", ("OCT340", 12)),
        (CASES[3][0], '"uvx"', '"uvx", "env": {"A_TOKEN": "q8hJf93kLmZ0pRtY7vWx"}', ("OCT340", 1)),
        (CASES[2][0], '"uvx"', "3", ("OCT203", 6)),
    ],
)
def test_a_mistake_in_a_server_of_an_agent(
    path: str, old: str, new: str, expected: tuple[str, int], tmp_path: Path
) -> None:
    """A literal secret and a wrong value are one finding each, at their lines."""
    text = next(text for name, text, _ in CASES if name == path).replace(old, new)
    assert [(code, line) for code, _, line in findings(tmp_path, path, text)] == [expected]


def test_an_agent_that_cannot_be_read_has_one_finding(tmp_path: Path) -> None:
    """The file is an agent and has servers; what breaks both is reported once."""
    assert findings(tmp_path, ".github/agents/plain.md", "Has no mcp-servers: at all.\n") == []
    broken = GEMINI.replace("Tells the time.", "{")
    assert [code for code, _, _ in findings(tmp_path, CASES[1][0], broken)] == ["OCT114"]
