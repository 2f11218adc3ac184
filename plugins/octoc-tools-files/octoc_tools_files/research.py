"""The tools for files of deep research agents, in a folder of their own, with the names of deepagents' tools.

Their paths may begin with `/`, which means that folder. Source: deepagents 0.4, FilesystemMiddleware and
FilesystemBackend(virtual_mode=True), which Octo gives such agents.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from octoc.plugin.toolkit import words_of
from octoc_tools_files.find import find
from octoc_tools_files.grep import MODES, ripgrep, search_text
from octoc_tools_files.root import PathRefusedError, Root
from octoc_tools_files.texts import ToolError
from octoc_tools_files.walk import names_in

LINES = 100
"""How many lines `read_file` returns unless told."""

Arguments = Mapping[str, Any]
Work = Callable[[Arguments, threading.Event], str]
Properties = Mapping[str, Mapping[str, Any]]


@attrs.frozen
class ResearchTools:
    """The tools. `read`, `write` and `edit` are those of `FileTools` in the same folder."""

    root: Root
    read: Work
    write: Work
    edit: Work

    def with_path(self, work: Work) -> Work:
        """Return `work` for paths that may begin with `/`."""

        def named(arguments: Arguments, stop: threading.Event) -> str:
            self.root.make_folders(())
            return work({**arguments, "file_path": self._inside(arguments["file_path"])}, stop)

        return named

    def read_file(self, arguments: Arguments, stop: threading.Event) -> str:
        """Return lines of a file with their numbers."""
        return self.read({"limit": LINES, **arguments}, stop)

    def ls(self, arguments: Arguments, _: threading.Event) -> str:
        """Return the names in a folder; those of folders end in `/`."""
        path = arguments.get("path", "/")
        try:
            with self._folder(path) as folder:
                names = names_in(folder)
        except (PathRefusedError, OSError) as error:
            raise ToolError(f"Error: {path}: {words_of(error)}") from None
        return "\n".join(names) if names else f"No files found in {path}"

    def glob(self, arguments: Arguments, stop: threading.Event) -> str:
        """Return the files and folders whose paths match; a pattern without `/` counts at any depth."""
        pattern, path = arguments["pattern"], arguments.get("path", "/")
        pattern = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
        try:
            self.root.make_folders(())
            return find(self.root, pattern, self._inside(path), stop)
        except (PathRefusedError, OSError) as error:
            raise ToolError(f"Error: {path}: {words_of(error)}") from None

    def grep(self, arguments: Arguments, stop: threading.Event) -> str:
        """Return where a text is."""
        path, mode = arguments.get("path", "/"), arguments.get("output_mode", MODES[0])
        glob = arguments.get("glob") or ""
        try:
            self.root.make_folders(())
            return search_text(self.root, arguments["pattern"], self._inside(path), glob, mode, stop, program=ripgrep())
        except (PathRefusedError, OSError) as error:
            raise ToolError(f"Error reading {path}: {words_of(error)}") from None

    def _folder(self, path: str) -> Any:
        self.root.make_folders(())
        return self.root.folder(self.root.parts(self._inside(path)))

    def _inside(self, path: str) -> str:
        is_whole = path == self.root.path or path.startswith(f"{self.root.path}/")
        return path if is_whole else path.lstrip("/") or "."

    def all(self) -> Iterator[tuple[str, str, Properties, tuple[str, ...], Work]]:
        """Yield name, description, parameters, required parameters and work of each tool."""
        text = {"type": "string"}
        file_path = {"file_path": {**text, "description": "Path of the file, absolute in the workspace"}}
        folder = {"path": {**text, "default": "/", "description": "Directory, absolute in the workspace"}}
        yield "ls", "List the files in a directory of the workspace.", folder, (), self.ls
        yield (
            "read_file",
            "Read a file of the workspace. Returns its lines with their numbers.",
            {
                **file_path,
                "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "First line, from 0"},
                "limit": {"type": "integer", "minimum": 1, "default": LINES, "description": "Maximum number of lines"},
            },
            ("file_path",),
            self.with_path(self.read_file),
        )
        yield (
            "write_file",
            "Write a file of the workspace as a whole; makes it and its directories if they are not there.",
            {**file_path, "content": {**text, "description": "The whole content"}},
            ("file_path", "content"),
            self.with_path(self.write),
        )
        yield (
            "edit_file",
            "Replace a text in a file of the workspace.",
            {
                **file_path,
                "old_string": {**text, "description": "The exact text; it occurs once, unless replace_all is true"},
                "new_string": {**text, "description": "The replacement text"},
                "replace_all": {"type": "boolean", "default": False, "description": "Replace every occurrence"},
            },
            ("file_path", "old_string", "new_string"),
            self.with_path(self.edit),
        )
        yield (
            "glob",
            "Find files of the workspace by a glob pattern.",
            {"pattern": {**text, "description": "As '*.md' at any depth, or 'notes/**/*.md'"}, **folder},
            ("pattern",),
            self.glob,
        )
        yield (
            "grep",
            "Search the files of the workspace for a literal text.",
            {
                "pattern": {**text, "description": "The text"},
                **folder,
                "glob": {**text, "default": "", "description": "Glob pattern of names of files, as '*.md'"},
                "output_mode": {
                    "type": "string", "enum": list(MODES), "default": MODES[0],
                    "description": "Paths, lines with their numbers, or how many lines each file has",
                },
            },
            ("pattern",),
            self.grep,
        )  # fmt: skip
