"""`claude_code`: a task for Claude Code, by the program `claude`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from octoc.plugin import ToolResult
from octoc.plugin.toolkit import name_list, usual_environment
from octoc_tools_agent.settings import AgentToolSettings

_MAX_BYTES = 8 * 1024 * 1024
_PART = 64 * 1024
_MISSING = (
    "Error: 'claude' CLI not found. Install Claude Code: npm install -g @anthropic-ai/claude-code; or let the host "
    "bind its own function (octoc_tools_agent.bind with `claude_code`)"
)


async def run_claude(arguments: Mapping[str, Any], settings: AgentToolSettings, workspace: Path) -> ToolResult:
    """Return the answer of Claude Code; when this ends, for whatever reason, its process group has ended."""
    program = shutil.which("claude")
    if program is None:
        return _error(_MISSING)
    folder = _folder(arguments.get("working_directory") or settings.projects[0], settings.projects, workspace)
    if folder is None:
        allowed = name_list(settings.projects)
        return _error(f"Error: working_directory must be a folder in one of these: {allowed}")
    agent = arguments.get("agent") or ""
    if agent.startswith("-"):
        return _error("Error: agent must be the name of an agent")
    seconds = min(arguments.get("timeout", settings.seconds), settings.seconds)
    command = [program, "-p", "--output-format", "json", *(("--agent", agent) if agent else ())]
    inherited = {name: os.environ[name] for name in settings.inherit_env if name in os.environ}
    running = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**usual_environment(os.environ), **inherited},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            out, err = await _talk(running, arguments["prompt"])
            await running.wait()
    except TimeoutError:
        return _error(f"Error: Claude Code timed out after {seconds}s")
    except OverflowError:
        return _error(f"Error: Claude Code wrote more than {_MAX_BYTES} bytes, and was ended")
    finally:
        await asyncio.shield(_end(running))
    return _result(running.returncode, out.strip(), err.strip())


def _folder(path: str, projects: Sequence[str], workspace: Path) -> Path | None:
    """Return the folder of a path, links followed, if it is one inside of a project."""
    folder = (workspace / path).resolve()
    inside = any(folder.is_relative_to((workspace / project).resolve()) for project in projects)
    return folder if inside and folder.is_dir() else None


async def _talk(running: asyncio.subprocess.Process, prompt: str) -> tuple[str, str]:
    """Write the prompt, and return both outputs. Raises: OverflowError for too much of them."""
    assert running.stdin is not None  # noqa: S101  # pipes were asked for
    assert running.stdout is not None  # noqa: S101
    assert running.stderr is not None  # noqa: S101
    # A prompt in the arguments would show in the list of processes, and could be an option.
    _, out, err = await asyncio.gather(
        _write(running.stdin, prompt.encode()), _read(running.stdout), _read(running.stderr)
    )
    return out, err


async def _write(stream: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):  # it may end without reading
        stream.write(data)
        await stream.drain()
    stream.close()


async def _read(stream: asyncio.StreamReader) -> str:
    written = bytearray()
    while part := await stream.read(_PART):
        written += part
        if len(written) > _MAX_BYTES:
            raise OverflowError
    return written.decode("utf-8", "replace")


async def _end(running: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    await running.wait()


def _result(status: int | None, out: str, err: str) -> ToolResult:
    answer = _answer(out)
    if answer is not None:
        return ToolResult.of_text(answer[0], is_error=answer[1] or status != 0)
    if status != 0:
        parts = [out, f"[stderr] {err}" if err else "", f"[exit code: {status}]"]
        return _error("\n".join(filter(None, parts)))
    return ToolResult.of_text(out or "(no output)")


def _answer(out: str) -> tuple[str, bool] | None:
    """Return the text of Claude Code's JSON, and whether it reports an error; None for any other output.

    A run that reaches a limit has `errors` in place of `result`. Source: Claude Code 2.1.330, `--output-format json`.
    """
    try:
        answer = json.loads(out)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    text, errors = answer.get("result"), answer.get("errors")
    if not isinstance(text, str) and isinstance(errors, list) and errors:
        text = "\n".join(map(str, errors))
    return (text, answer.get("is_error") is True) if isinstance(text, str) else None


def _error(text: str) -> ToolResult:
    return ToolResult.of_text(text, is_error=True)
