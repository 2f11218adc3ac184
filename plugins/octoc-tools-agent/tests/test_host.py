"""Tools that the host does: its functions, the program `claude`, and what happens without them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc.plugin import ToolResult
from octoc_tools_agent import HostFunctions
from octoc_tools_agent.claude import _MAX_BYTES

MakeTools = Callable[..., Any]
ARGUMENTS = {
    "schedule_task": {"task": "water the plants", "schedule_type": "every", "spec": "1d"},
    "send_file": {"file_path": "report.pdf"},
    "task": {"description": "look it up", "subagent_type": "general-purpose"},
    "claude_code": {"prompt": "fix it"},
}


def _claude(folder: Path, script: str) -> None:
    """Make a program `claude` in `folder`; it is Python, with `arguments` and `prompt`."""
    program = folder / "claude"
    head = f"#!{sys.executable}\nimport json, os, sys, time\narguments = sys.argv[1:]\n"
    program.write_text(f"{head}prompt = sys.stdin.read()\n{script}\n")
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of programs."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_the_function_of_the_host(make_tools: MakeTools, tool: str) -> None:
    """A tool gives its arguments to the host's function, and returns what that returns."""

    def text(given: Mapping[str, Any]) -> str:
        return f"{sorted(given)}"

    async def value(given: Mapping[str, Any]) -> dict[str, Any]:
        return {"at": given.get("spec")}

    def result(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("no room", is_error=True)

    def run(function: Any) -> str:
        answer: str = make_tools(HostFunctions(**{tool: function}))(tool, **ARGUMENTS[tool])
        return answer

    assert run(text) == f"{sorted(ARGUMENTS[tool])}"
    assert json.loads(run(value)) == {"at": ARGUMENTS[tool].get("spec")}
    assert run(result) == "! no room"


@pytest.mark.parametrize("tool", sorted(set(ARGUMENTS) - {"claude_code"}))
def test_without_a_function(make_tools: MakeTools, tool: str) -> None:
    """Without a function a call fails, and says why."""
    for functions in (None, HostFunctions()):
        answer = make_tools(functions)(tool, **ARGUMENTS[tool])
        assert answer.startswith(f"! Error: {tool} is not available: this host gives no function for it"), answer


def test_without_claude(make_tools: MakeTools, programs: Path) -> None:
    """Without a function and without the program, `claude_code` fails and says what is missing."""
    assert list(programs.iterdir()) == []
    answer = make_tools()("claude_code", prompt="hi")
    assert answer.startswith("! Error: 'claude' CLI not found. Install Claude Code: npm install -g ")


def test_the_program(make_tools: MakeTools, programs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`claude` runs in the project with the prompt as its input, and with named variables of the host alone."""
    monkeypatch.setenv("API_KEY", "rhubarb")
    monkeypatch.setenv("CLAUDE_MODEL", "small")
    (tmp_path / "app").mkdir()
    _claude(
        programs,
        "kept = [name for name in ('API_KEY', 'CLAUDE_MODEL') if name in os.environ]\n"
        "print(json.dumps({'result': json.dumps([arguments, prompt, os.getcwd(), kept])}))",
    )
    tools = make_tools(inherit_env=["CLAUDE_MODEL"])
    prompt = "--dangerously-skip-permissions; $(id)"
    answer = json.loads(tools("claude_code", prompt=prompt, working_directory="app", agent="reviewer"))
    options = ["-p", "--output-format", "json", "--agent", "reviewer"]
    assert answer == [options, prompt, str(tmp_path / "app"), ["CLAUDE_MODEL"]]
    assert json.loads(tools("claude_code", prompt=prompt))[2] == str(tmp_path)


@pytest.mark.parametrize(
    "script, expected",
    [
        ("print('plain')", "plain"),
        ("pass", "(no output)"),
        ("print('[1]')", "[1]"),
        ("print('half'); print('no login', file=sys.stderr); sys.exit(3)", "! half\n[stderr] no login\n[exit code: 3]"),
        ("print(json.dumps({'result': 'out of turns', 'is_error': True}))", "! out of turns"),
        ("print(json.dumps({'result': 'not logged in', 'is_error': True})); sys.exit(1)", "! not logged in"),
        ("print(json.dumps({'errors': ['turn 1', 'turn 2'], 'is_error': True})); sys.exit(1)", "! turn 1\nturn 2"),
        (
            f"sys.stdout.write('x' * {_MAX_BYTES + 1}); sys.stdout.flush(); time.sleep(1000)",
            f"! Error: Claude Code wrote more than {_MAX_BYTES} bytes, and was ended",
        ),
    ],
)
def test_what_the_program_answers(make_tools: MakeTools, programs: Path, script: str, expected: str) -> None:
    """The answer is the `result` of its JSON, its `errors` or else its output; a status other than 0 is an error."""
    _claude(programs, script)
    assert make_tools()("claude_code", prompt="hi") == expected


@pytest.mark.parametrize("path", ["..", "/", "app/../..", "link", "absent", "file"])
def test_other_folders(make_tools: MakeTools, programs: Path, tmp_path: Path, path: str) -> None:
    """`claude` works in a project's folder alone, and is not started for another path."""
    _claude(programs, "open(arguments[0], 'w')")
    (tmp_path / "link").symlink_to("/")
    (tmp_path / "file").touch()
    answer = make_tools()("claude_code", prompt="hi", working_directory=path)
    assert answer == "! Error: working_directory must be a folder in one of these: `.`"
    assert make_tools()("claude_code", prompt="hi", agent="--help").startswith("! Error: agent must be")


def test_more_projects(make_tools: MakeTools, programs: Path, tmp_path: Path) -> None:
    """The first project is the default, and a path in any of them is allowed."""
    for name in ("one", "two/deep"):
        (tmp_path / name).mkdir(parents=True)
    _claude(programs, "print(os.getcwd())")
    tools = make_tools(projects=["one", str(tmp_path / "two")])
    assert tools("claude_code", prompt="hi") == str(tmp_path / "one")
    assert tools("claude_code", prompt="hi", working_directory="two/deep") == str(tmp_path / "two" / "deep")
    assert tools("claude_code", prompt="hi", working_directory=".").startswith("! Error: working_directory")


def test_the_time_limit(make_tools: MakeTools, programs: Path, tmp_path: Path) -> None:
    """After the time limit the program and what it started are ended, also if they ignore SIGTERM."""
    # A shell, which has started long before the time is over, also on a busy machine.
    program = programs / "claude"
    program.write_text(
        f"#!/bin/sh\ntrap '' TERM\n/bin/sleep 1000 &\necho $! >{tmp_path / 'pid'}\nwait\n/bin/sleep 1000\n"
    )
    program.chmod(0o755)
    tools = make_tools(seconds=3)
    assert tools("claude_code", prompt="hi", timeout=60) == "! Error: Claude Code timed out after 3s"
    assert _is_gone((tmp_path / "pid").read_text().strip())


def test_a_cancelled_call(make_tools: MakeTools, programs: Path, tmp_path: Path) -> None:
    """When the caller leaves, the program has ended before the call does."""
    os.mkfifo(tmp_path / "pid")
    _claude(programs, f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(1000)")

    async def run() -> str:
        call = asyncio.ensure_future(make_tools().call("claude_code", prompt="hi"))
        pid = await asyncio.to_thread((tmp_path / "pid").read_text)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return pid

    assert _is_gone(asyncio.run(run()))


def _is_gone(pid: str) -> bool:
    """Tell whether a process has ended; one that its parent has not yet taken in has."""
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_the_tests_have_no_real_claude(programs: Path) -> None:
    """The fixture hides a program `claude` of this machine."""
    assert shutil.which("claude") is None
