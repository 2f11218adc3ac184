"""Files that settings and plugins name: whether they are there, what they hold, and what a hook's command runs."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath
from typing import Any

from octoc.chezmoi import is_in_source
from octoc.compiler.inputs.chezmoi import has_target
from octoc.compiler.inputs.claude.settings import LOCAL_SETTINGS_FILE, SETTINGS_FILE
from octoc.gitignore import is_ignored, parse_gitignore

_PROJECT, _PLUGIN = (
    re.compile(rf"\$\{{?{name}(?::-[^}}]*)?\}}?/")
    for name in ("(?:AUGMENT|CLAUDE|CURSOR|GEMINI|QWEN)_PROJECT_DIR", "(?:CLAUDE_)?PLUGIN_ROOT")
)
_LAUNCHERS = frozenset({
    "bash", "bun", "deno", "node", "npx", "perl", "php", "pwsh", "python", "python3", "ruby", "run", "sh", "tsx", "uv",
    "zsh",
})  # fmt: skip
# A command that looks for the script first, or that expects its failure, works without it.
_GUARDED = re.compile(r"\[ |\[\[|\btest |\|\||2>|\bif\b|\bexists\b")
_OWN = ".claude"
_OF_ALL_CLIENTS = "AGENTS.md"
_OF_OTHER_PROGRAMS = (".github", ".vscode")
"""Hidden folders that many projects have without the client that reads them."""
_MAX_BYTES = 1_000_000
_MAX_LINK = 256
_MAX_ENTRIES = 5_000
_SUBMODULE = re.compile(r"^\s*path\s*=\s*(\S.*?)\s*$", re.MULTILINE)
# A pattern, a variable, or what stands for a number or a date in a template, as in `ADR-NNN-title.md`.
_WILD = re.compile(r"[*?$`{}<>~]|NNN|XXX|YYYY")
_MADE = frozenset({"node_modules", "dist", "build", "out", "target", ".venv", "venv", "bin", ".output"})
"""Folders that builds and package managers fill, so that a repository may lack them."""
_USERS_OWN = ("dotfiles", "dotclaude", ".config")
"""Words in the names of folders whose settings are those of one user."""
_OF_HOME = (".zshrc", ".bashrc", ".bash_profile", ".profile", ".zprofile")
"""Files of a home folder, which some people keep as a repository."""


def is_users_own(folder: Path) -> bool:
    """Tell whether the settings in `folder` are those of one user, for every project."""
    is_named = any(word in part.lower() for part in folder.parts for word in _USERS_OWN)
    return is_named or is_in_source(folder) or any((folder / name).is_file() for name in _OF_HOME)


def is_of_claude(root: Path, clients: AbstractSet[str]) -> bool:
    """Tell whether the project in `root` is for Claude Code alone: it has no folder of another of `clients`."""
    others = (*(clients - {_OWN, *_OF_OTHER_PROGRAMS}), _OF_ALL_CLIENTS)
    return (root / _OWN).is_dir() and not any((root / name).exists() for name in others)


def scope_of(path: Path) -> str:
    """Return whose settings a file has: `managed`, `user`, `local` or `project`."""
    if not path.match(SETTINGS_FILE) and not path.match(LOCAL_SETTINGS_FILE):
        return "managed"
    home = path.parent.parent
    if home == Path.home() or is_users_own(home):
        return "user"
    return "local" if path.match(LOCAL_SETTINGS_FILE) else "project"


def is_missing(folder: Path, path: str) -> bool:
    """Tell whether `path` names a file or folder below `folder` that must be there and is not.

    What lies in a submodule of git is there once git has fetched it, and chezmoi writes files under other names.
    """
    if _WILD.search(path) or "\0" in path or is_made(path) or os.path.lexists(folder / path):
        return False
    if has_target(folder, path):
        return False
    return not any(is_link_text(above) for above in (folder / path).parents if folder in above.parents) and not any(
        submodule_of(folder / path, above) for above in (folder, *folder.parents)
    )


def elsewhere(root: Path, path: str) -> str | None:
    """Return a help that says where below `root` a file or folder with the name of `path` is; None if nowhere."""
    name = PurePosixPath(path).name
    found: list[str] = []
    looked_at = 0
    for here, folders, files in os.walk(root):
        looked_at += len(folders) + len(files)
        folders[:] = sorted(one for one in folders if one not in _MADE and one != ".git")
        found += [Path(here, name).relative_to(root).as_posix()] if name in folders or name in files else []
        if looked_at > _MAX_ENTRIES or len(found) > 1:
            break
    return f"`{found[0]}` has that name: did you mean it?" if len(found) == 1 else None


def submodule_of(path: Path, root: Path) -> str | None:
    """Return the submodule of git, relative to the repository at `root`, in which `path` lies; None if in none."""
    listed = _SUBMODULE.findall(_text(root / ".gitmodules"))
    inside = Path(os.path.normpath(path))
    return next((one for one in listed if inside.is_relative_to(root / one)), None)


def is_made(path: str) -> bool:
    """Tell whether builds or package managers make what `path` names, so that a fresh copy of a project lacks it."""
    return not _MADE.isdisjoint(PurePosixPath(path).parts)


def is_left_out(path: Path, top: Path) -> bool:
    """Tell whether the `.gitignore` files of the folders above exclude `path`: each user has a file of their own.

    Args:
        top: the folder that is checked: the last one that counts where no folder above has a repository.
    """
    above = list(_up_to_root(path.parent, top))[::-1]
    levels = [(one.relative_to(above[0]).as_posix(), parse_gitignore(_text(one / ".gitignore"))) for one in above]
    levels = [("" if folder == "." else folder, lines) for folder, lines in levels if lines]
    inside = path.relative_to(above[0])
    return any(
        is_ignored(
            [one for one in levels if not one[0] or part.is_relative_to(one[0])],
            part.as_posix(),
            is_dir=part != inside,
        )
        for part in (inside, *inside.parents[:-1])
    )


def is_missing_above(folder: Path, path: str, top: Path) -> bool:
    """Tell whether `path` is in neither `folder` nor a folder above, up to the root of the repository, or `top`."""
    return all(is_missing(one, path) for one in _up_to_root(folder, top))


def _up_to_root(folder: Path, top: Path) -> Iterator[Path]:
    folders = (folder, *folder.parents)
    # `Path.exists` raises for a name that is too long for the system.
    root = next((one for one in folders if os.path.exists(one / ".git")), top)  # noqa: PTH110  # see above
    yield folder
    yield from (one for one in folder.parents if one == root or root in one.parents)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.is_file() and path.stat().st_size < _MAX_BYTES else ""
    except (OSError, ValueError):
        return ""


def is_link_text(path: Path) -> bool:
    """Tell whether a file may be a symbolic link to a folder, which git writes as one line where it makes no links."""
    try:
        return path.is_file() and path.stat().st_size < _MAX_LINK and "\n" not in path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False


def values_of(path: Path) -> Mapping[str, Any]:
    """Return the values of a file beside the one under inspection; none of one that is missing, large or unsound.

    The file's own check reports what is wrong with it.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            return {}
        values = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def script_of(command: str, folder: Path, *, of_plugin: bool, own: str = _OWN) -> str | None:
    """Return the script in the project, or in the plugin, that a hook's command runs, relative to its root.

    Args:
        folder: the root. A hook may run in any folder: a relative path counts if its folder is there, or is `own`.
        of_plugin: the root is a plugin's, whose hooks may also run scripts of the project that uses it.
        own: the client's folder in a project.
    """
    root = _PLUGIN if of_plugin else _PROJECT
    if _GUARDED.search(command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    for word in words:
        if word.startswith("-") or PurePosixPath(word).name in _LAUNCHERS:
            continue
        if root.match(word):
            return root.sub("", word, count=1)
        path = PurePosixPath(word.removeprefix("./"))
        is_relative = len(path.parts) > 1 and path.parts[0] not in ("/", "..", "~") and not _WILD.search(word)
        is_of_root = not of_plugin and is_relative and (path.parts[0] == own or (folder / path.parent).is_dir())
        return str(path) if is_of_root and path.suffix else None
    return None
