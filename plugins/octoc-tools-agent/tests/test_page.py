"""The pages of the plugin: their examples work, and their tables are complete."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import attrs
import pytest

import octoc_tools_agent
from octoc.compiler import build
from octoc.plugin import ServerTarget, plugins_of
from octoc.runtime import Runtime
from octoc_tools_agent import notes, octoc_tools
from octoc_tools_agent.settings import AgentToolSettings

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "tools-agent.md").read_text(encoding="utf-8")
README = (ROOT / "plugins" / "octoc-tools-agent" / "README.md").read_text(encoding="utf-8")


def _bundle(folder: Path, text: str) -> Path:
    (example,) = re.findall(r"```toml.*?\n(.*?\[servers\.octo\].*?)```", text, re.DOTALL)
    (folder / "octoc.toml").write_text(example, encoding="utf-8")
    outcome = build(folder, plugins=plugins_of(octoc_tools_agent), allow_degraded=True)
    assert outcome.bundle is not None
    return outcome.bundle


@pytest.mark.parametrize("text", [PAGE, README], ids=["page", "README"])
def test_the_example(tmp_path: Path, text: str) -> None:
    """The lines of the page give the supervisor of a workspace its nine tools."""
    runtime = Runtime.open(_bundle(tmp_path, text), plugins=plugins_of(octoc_tools_agent))
    names = {str(tool["name"]) for tool in runtime.session().tools("mcp")}
    (row,) = re.findall(r"^\| supervisor \| (.*) \|$", PAGE, re.MULTILINE)
    assert {f"octo__{name}" for name in re.findall(r"`(\w+)`", row)} == {
        name for name in names if name.startswith("octo__")
    }


def test_the_host_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host of the page schedules a task."""
    bundle = _bundle(tmp_path, PAGE)
    (code,) = re.findall(r"```python title=\"host.py\"\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    assert bundle.relative_to(tmp_path).as_posix() == "dist/acme.octoc"
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  # a page of this project

    async def run() -> str:
        async with names["runtime"] as runtime:
            session = runtime.session("supervisor", user="ann")
            outcome = await session.call("octo__schedule_task", {"task": "tea", "spec": "in 2h"})
            return str(outcome.text)

    assert asyncio.run(run()) == "Scheduled for ann: tea, in 2h"


def test_every_tool_is_on_the_page() -> None:
    """The table has each tool with its parameters."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \| ", PAGE.partition("## The tools")[2], re.MULTILINE))
    for tool in octoc_tools("octo", ServerTarget(name="octo", transport="builtin")) or ():
        for name in tool.input_schema["properties"]:
            assert f"`{name}`" in rows[tool.name], (tool.name, name)


def test_every_setting_is_on_the_page() -> None:
    """The table has each setting with its default."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \| ", PAGE.partition("## Settings")[2], re.MULTILINE))
    for field in attrs.fields(AgentToolSettings):
        written: dict[Any, str] = {".octo/agent.db": '`".octo/agent.db"`', (): "none", (".",): '`["."]`'}
        assert rows[field.name] == written.get(field.default, f"`{field.default}`"), field.name


def test_the_limits_on_the_page() -> None:
    """The limits are those of the page."""
    limits = (notes.MAX_TODOS, notes.MAX_OPEN_TODOS, notes.MAX_TASK_CHARS, notes.MAX_MEMORY_CHARS)
    assert (*limits, notes.MAX_DOCUMENT_CHARS) == (20, 100, 2000, 16_000, 64_000)
    assert "a task has at most 2,000 characters, a memory 16,000" in PAGE.lower()
    assert "the long-term memory and the state 64,000, a plan 100 open tasks" in PAGE
