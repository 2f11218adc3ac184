"""The tool `claude_code` of octoc-tools-agent with the real program `claude`, which the Agent SDK ships."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

claude_agent_sdk = pytest.importorskip(
    "claude_agent_sdk", reason="Claude's Agent SDK has environments of its own: run `make adapters`"
)

from octoc.plugin import ServerTarget, ToolResult
from octoc_tools_agent import octoc_tools

INHERITED = ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]


@pytest.fixture
def claude_code(api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ToolResult]:
    """A function that calls the tool, in a project with an agent `reviewer`."""
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    text = "---\nname: reviewer\ndescription: Reviews\nmodel: claude-sonnet-4-5\n---\nYou review."
    (agents / "reviewer.md").write_text(text)
    program = Path(claude_agent_sdk.__file__).parent / "_bundled"
    for name, value in zip(INHERITED, (api.url, "none", "1"), strict=True):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{program}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    target = ServerTarget(name="octo", transport="builtin", cwd=str(tmp_path), settings={"inherit_env": INHERITED})
    tools: dict[str, Any] = {tool.name: tool for tool in octoc_tools("octo", target) or ()}

    def call(**arguments: Any) -> ToolResult:
        result = asyncio.run(tools["claude_code"].handler(arguments))
        assert isinstance(result, ToolResult)
        return result

    return call


def test_a_task(api: Any, claude_code: Callable[..., ToolResult]) -> None:
    """The prompt reaches the model as the user's message, with the prompt of the agent, and its answer comes back."""
    asked: list[Any] = []

    def answer(body: Any) -> str:
        asked.append(body)
        return "All is well."

    api.other = answer
    result = claude_code(prompt="--help\nlook at it", agent="reviewer")
    assert (result.text, result.is_error) == ("All is well.", False)
    (request,) = (body for body in asked if body.get("tools"))
    assert "--help\nlook at it" in str(request["messages"][0]["content"]).replace("\\n", "\n")
    assert any(block["text"].startswith("You review.") for block in request["system"])


def test_what_claude_refuses(claude_code: Callable[..., ToolResult], monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that the project does not have, and a missing login, are errors in the program's words alone."""
    result = claude_code(prompt="hi", agent="absent")
    assert result.is_error
    assert "--agent 'absent' not found" in result.text
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    result = claude_code(prompt="hi")
    assert (result.text, result.is_error) == ("Not logged in · Please run /login", True)
