"""The tools of one server, with the names, parameters and texts of Octo's built-in tools."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs

from octoc.plugin import AgentRole, PythonTool, ToolResult, current_caller
from octoc.plugin.toolkit import words_of
from octoc_tools_files.bash import run_command
from octoc_tools_files.edit import edit, write
from octoc_tools_files.find import find
from octoc_tools_files.grep import ripgrep, search_files
from octoc_tools_files.read import read_lines
from octoc_tools_files.research import ResearchTools
from octoc_tools_files.root import AbsentError, OpenFile, PathRefusedError, Root, Signature
from octoc_tools_files.settings import ANY_PROGRAM, FileToolSettings
from octoc_tools_files.texts import MAX_LINES, ToolError
from octoc_tools_files.walk import StoppedError

_MAX_REMEMBERED = 10_000
_MAX_CONTEXT = 50
_SECONDS = 20.0
"""How long a tool for files may take: less than octoc waits for an answer unless told."""
_END_S = 10.0
"""How long ending a command may take, beyond its own time."""
_READ_ONLY = frozenset({"Read", "Grep", "Glob", "ls", "read_file", "glob", "grep"})
ROLES: tuple[AgentRole, ...] = ("supervisor", "worker")

Arguments = Mapping[str, Any]
Work = Callable[[threading.Event], str | ToolResult]


@attrs.define
class FileTools:
    """The tools in one folder. They remember what each conversation read, to refuse an edit of what changed since."""

    root: Root
    settings: FileToolSettings
    _read: OrderedDict[tuple[object, ...], Signature] = attrs.field(factory=OrderedDict)
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def read(self, arguments: Arguments, stop: threading.Event) -> str:
        """Return lines of a file with their numbers."""
        path, offset, limit = arguments["file_path"], arguments.get("offset", 0), arguments.get("limit", MAX_LINES)
        try:
            parts = self.root.parts(path)
            with self.root.file(parts) as (one, _):
                text = read_lines(one, offset, limit, stop)
                self._remember(parts, one.signature)
                return text
        except AbsentError:
            raise ToolError(f"Error: File not found: {path}") from None
        except (PathRefusedError, OSError) as error:
            raise ToolError(f"Error reading {path}: {words_of(error)}") from None

    def grep(self, arguments: Arguments, stop: threading.Event) -> str:
        """Return the lines of files that match a regular expression."""
        path = arguments.get("path", ".")
        glob = arguments.get("glob") or arguments.get("include") or ""
        try:
            return search_files(
                self.root, arguments["pattern"], path, glob, arguments.get("context", 0), stop, program=ripgrep()
            )
        except (PathRefusedError, OSError) as error:
            raise ToolError(f"Error reading {path}: {words_of(error)}") from None

    def glob(self, arguments: Arguments, stop: threading.Event) -> str:
        """Return the files and folders whose paths match a pattern."""
        path = arguments.get("path", ".")
        try:
            return find(self.root, arguments["pattern"], path, stop, gitignore=arguments.get("gitignore", False))
        except (PathRefusedError, OSError) as error:
            raise ToolError(f"Error: {path}: {words_of(error)}") from None

    def edit(self, arguments: Arguments, _: threading.Event) -> str:
        """Replace the only occurrence of a text in a file, or with `replace_all` every one."""
        path = arguments["file_path"]
        try:
            parts = self.root.parts(path)
            with self._lock, self.root.file(parts) as (one, folder):
                if self._read.get(_reader(parts), one.signature) != one.signature:
                    raise ToolError(f"Error editing {path}: the file changed since it was read; read it again")
                old, new = arguments["old_string"], arguments["new_string"]
                signature, count = edit(
                    one, parts[-1], folder, path, old, new, every=arguments.get("replace_all", False)
                )
            self._remember(parts, signature)
        except AbsentError:
            raise ToolError(f"Error: File not found: {path}") from None
        except (PathRefusedError, OSError) as error:
            raise ToolError(f"Error editing {path}: {words_of(error)}") from None
        return f"Successfully edited {path}" if count == 1 else f"Successfully edited {path} in {count} places"

    def write(self, arguments: Arguments, _: threading.Event) -> str:
        """Write a whole file, and make its folders."""
        path = arguments["file_path"]
        try:
            parts = self.root.parts(path)
            if not parts:
                raise PathRefusedError("a folder")
            self.root.make_folders(parts[:-1])
            with self._lock, self.root.folder(parts[:-1]) as folder:
                one = self._present(parts[-1], folder)
                try:
                    signature = write(one, parts[-1], folder, path, arguments["content"])
                finally:
                    if one is not None:
                        os.close(one.fd)
            self._remember(parts, signature)
        except (PathRefusedError, OSError) as error:
            raise ToolError(f"Error writing {path}: {words_of(error)}") from None
        return f"Updated file {path}"

    def _present(self, name: str, folder: int) -> OpenFile | None:
        try:
            return self.root.open_file(name, folder)
        except AbsentError:
            return None

    def bash(self, arguments: Arguments, stop: threading.Event) -> ToolResult:
        """Run a command of a shell."""
        seconds = arguments.get("timeout", self.settings.seconds)
        return run_command(arguments["command"], seconds, self.root.path, self.settings, stop)

    def _remember(self, parts: tuple[str, ...], signature: Signature) -> None:
        self._read[_reader(parts)] = signature
        while len(self._read) > _MAX_REMEMBERED:
            self._read.popitem(last=False)


def _reader(parts: tuple[str, ...]) -> tuple[object, ...]:
    """Return the key of a file in a conversation."""
    caller = current_caller()
    return caller.tenant, caller.user, caller.agent, caller.session, parts


def python_tools(root: Root, settings: FileToolSettings) -> Iterable[PythonTool]:
    """Yield the tools of a server; `Bash` only if a program is allowed."""
    tools = FileTools(root, settings)
    text, count = {"type": "string"}, {"type": "integer", "minimum": 0}
    yield _tool(
        "Read",
        "Read a file from the filesystem. Returns its lines with their numbers.",
        {
            "file_path": {**text, "description": "Absolute or relative path to the file"},
            "offset": {**count, "default": 0, "description": "Line number to start reading from (0-based)"},
            "limit": {
                "type": "integer", "minimum": 1, "default": MAX_LINES,
                "description": f"Maximum number of lines to read, at most {MAX_LINES}",
            },
        },
        ("file_path",),
        tools.read,
    )  # fmt: skip
    yield _tool(
        "Grep",
        "Search file contents using regex. Returns matching lines with file paths and line numbers.",
        {
            "pattern": {**text, "description": "Regular expression to search for, without look-around"},
            "path": {**text, "default": ".", "description": "Directory or file to search in"},
            "glob": {**text, "default": "", "description": "Glob pattern to filter files (e.g. '*.py')"},
            "include": {**text, "default": "", "description": "Alias for glob"},
            "context": {
                **count, "maximum": _MAX_CONTEXT, "default": 0,
                "description": "Number of context lines before/after each match",
            },
        },
        ("pattern",),
        tools.grep,
    )  # fmt: skip
    yield _tool(
        "Glob",
        "Find files matching a glob pattern. Returns their paths, one per line.",
        {
            "pattern": {**text, "description": "Glob pattern (e.g. '**/*.py', 'src/**/*.ts')"},
            "path": {**text, "default": ".", "description": "Root directory to search from"},
            "gitignore": {
                "type": "boolean", "default": False, "description": "Leave out what .gitignore files ignore",
            },
        },
        ("pattern",),
        tools.glob,
    )  # fmt: skip
    yield _tool(
        "Edit",
        "Edit a file by replacing a string, which must occur exactly once.",
        {
            "file_path": {**text, "description": "Path to the file to modify"},
            "old_string": {**text, "description": "The exact text to find and replace"},
            "new_string": {**text, "description": "The replacement text"},
        },
        ("file_path", "old_string", "new_string"),
        tools.edit,
    )
    if settings.programs:
        yield _tool(
            "Bash",
            f"Execute a shell command and return its output. {_programs(settings)}",
            {
                "command": {**text, "description": "The shell command to execute"},
                "timeout": {
                    "type": "integer", "minimum": 1, "default": settings.seconds,
                    "description": f"Maximum execution time in seconds, at most {settings.seconds}",
                },
            },
            ("command",),
            tools.bash,
            timeout_s=settings.seconds + _END_S,
        )  # fmt: skip


def research_tools(root: Root, settings: FileToolSettings) -> Iterable[PythonTool]:
    """Yield the tools of deep research agents."""
    files = FileTools(root, settings)
    for name, description, properties, required, work in ResearchTools(root, files.read, files.write, files.edit).all():
        yield _tool(name, description, properties, required, work, direct_for=("deep_research",))


def _programs(settings: FileToolSettings) -> str:
    if ANY_PROGRAM in settings.programs:
        return "It can start every program."
    names = ", ".join(settings.programs)
    return f"The shell is restricted (no cd, no redirection of output) and can start: {names}."


def _tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    required: tuple[str, ...],
    work: Callable[[Arguments, threading.Event], str | ToolResult],
    *,
    direct_for: tuple[AgentRole, ...] = ROLES,
    timeout_s: float | None = None,
) -> PythonTool:
    async def handle(arguments: Arguments) -> ToolResult:
        seconds = _SECONDS if timeout_s is None else None
        try:
            result = await _in_thread(lambda stop: work(arguments, stop), seconds)
        except ToolError as error:
            return ToolResult.of_text(str(error), is_error=True)
        except StoppedError:
            text = f"Error: {name} took longer than {seconds:g} s: give a smaller folder or file, or another pattern"
            return ToolResult.of_text(text, is_error=True)
        return ToolResult.of_text(result) if isinstance(result, str) else result

    schema = {"type": "object", "properties": properties, "required": list(required)}
    return PythonTool(
        name=name,
        description=description,
        input_schema=schema,
        handler=handle,
        direct_for=direct_for,
        timeout_s=timeout_s,
        annotations={"readOnlyHint": True} if name in _READ_ONLY else {},
    )


async def _in_thread(work: Work, seconds: float | None) -> str | ToolResult:
    """Run `work` in a thread of its own; `stop` of it is set after `seconds`, None sets no limit.

    If this is cancelled, `work` is asked to stop, and ends first.
    """
    stop = threading.Event()
    limit = None if seconds is None else asyncio.get_running_loop().call_later(seconds, stop.set)
    context = contextvars.copy_context()
    # Not the shared threads of the loop: a command may take minutes.
    threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="octoc-tools-files")
    running = asyncio.get_running_loop().run_in_executor(threads, context.run, work, stop)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait({running})
        if not running.cancelled():
            running.exception()  # the caller has left, whatever it is
        raise
    finally:
        if limit is not None:
            limit.cancel()
        threads.shutdown(wait=False)
