"""The names that chezmoi gives the files of a home folder, from those that a repository has for it.

Source: chezmoi, reference, source state attributes (2.70, 2026).
"""

from __future__ import annotations

import re
from pathlib import PurePath

_PREFIXES = re.compile(
    r"(?:after|before|create|empty|encrypted|exact|executable|external|modify|once|onchange|private|readonly|remove|run"
    r"|symlink)_"
)
_SUFFIXES = re.compile(r"(?:\.tmpl|\.age|\.asc|\.literal)+\Z")
_DOT, _LITERAL = "dot_", "literal_"
_OTHER_CONTENT = re.compile(r"(?:encrypted|modify|once|onchange|remove|run|symlink)_")
"""Prefixes of files whose text is not that of the file in the home folder: scripts, links and what is encrypted."""


def target_name(name: str) -> str:
    """Return the name that chezmoi gives a file or folder called `name`."""
    while (prefix := _PREFIXES.match(name)) is not None:
        name = name[prefix.end() :]
    if name.startswith(_LITERAL):
        name = name.removeprefix(_LITERAL)
    elif name.startswith(_DOT):
        name = f".{name.removeprefix(_DOT)}"
    return _SUFFIXES.sub("", name)


def target_path(path: PurePath) -> PurePath:
    """Return the path that chezmoi writes `path` to, where a folder in it begins with `dot_`; `path` itself elsewhere.

    A file that chezmoi makes from another text, such as a template, stays what it is. Both have as many parts.
    """
    if _DOT not in str(path) or not is_in_source(path):
        return path
    is_other = _OTHER_CONTENT.match(path.name) is not None or _SUFFIXES.search(path.name) is not None
    return path if is_other else type(path)(*path.parts[:1], *map(target_name, path.parts[1:]))


def is_in_source(path: PurePath) -> bool:
    """Tell whether a folder of a path, or its file, begins with `dot_`."""
    return any(part.startswith(_DOT) for part in path.parts)
