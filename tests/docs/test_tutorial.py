"""The tutorial, done: its files are written, its commands run, and they print what the page shows."""

from __future__ import annotations

import difflib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.transcripts import rerun, says

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
OPENAI = '''
import json
from types import SimpleNamespace as Value

ARGUMENTS = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
CALLS = [
    ("find_tools", {"query": "convert time between timezones"}),
    ("call_mcp_tool", {"tool_name": "time__convert_time", "arguments": ARGUMENTS}),
]


class AsyncOpenAI:
    """A model of three turns: it searches, calls what it found, and answers with the result."""

    def __init__(self):
        self.chat = Value(completions=self)

    async def create(self, *, model, messages, tools):
        turn = sum(not isinstance(one, dict) for one in messages)
        if turn == 0:
            assert [tool["function"]["name"] for tool in tools] == ["find_tools", "call_mcp_tool", "read_result"]
        if turn < len(CALLS):
            name, arguments = CALLS[turn]
            function = Value(name=name, arguments=json.dumps(arguments))
            message = Value(content=None, tool_calls=[Value(id=str(turn), function=function)])
        else:
            late = json.loads(messages[-1]["content"])["target"]["datetime"][11:16]
            message = Value(content=f"When it is noon in UTC, it is {late} in Tokyo.", tool_calls=None)
        return Value(choices=[Value(message=message)])
'''


def test_the_tutorial_prints_what_it_shows(
    tmp_path: Path, octoc_words: list[str], python_server: Callable[[str], Path]
) -> None:
    """In a new folder each command prints what the page shows below it; `make snapshots` writes it there."""
    for name in ("mcp-server-time", "mcp-server-git"):
        python_server(name)
    programs, folder, modules = tmp_path / "bin", tmp_path / "office", tmp_path / "modules"
    for made in (programs, folder, modules):
        made.mkdir()
    (modules / "openai.py").write_text(OPENAI, encoding="utf-8")
    program = programs / "octoc"
    program.write_text(f'#!/bin/sh\nexec {" ".join(octoc_words)} "$@"\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(modules), "NO_COLOR": "1"}
    page = PAGE.read_text(encoding="utf-8")
    printed = rerun(page, folder, env)
    if os.environ.get("OCTOC_WRITE_SNAPSHOTS"):
        PAGE.write_text(printed, encoding="utf-8")
        return
    diff = "\n".join(difflib.unified_diff(page.splitlines(), printed.splitlines(), "page", "printed", lineterm=""))
    assert not diff, f"docs/tutorial.md differs; if the change is meant, run `make snapshots`\n{diff}"


@pytest.mark.parametrize(
    "shown,printed,expected",
    [
        ("built: 1,024 bytes\n", "built: 99 bytes\n", True),
        ("on 2026-01-01, a Monday\n", "on 2027-12-31, a Friday\n", True),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("2 tools\n", "3 tools\n", False),
        ("a.b\n", "axb\n", False),
    ],
)
def test_outputs_are_compared_except_for_what_changes(shown: str, printed: str, expected: bool) -> None:
    """Dates, sizes, digests and elided lines may differ, and nothing else."""
    assert says(shown, printed) is expected
