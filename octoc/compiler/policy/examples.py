"""Which files are examples, by their paths: nothing runs them, so their mistakes matter less."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_EXAMPLE = re.compile(
    r"(?:^|[-_.])(?:docs?|documentation|examples?|samples?|templates?|fixtures?|tests?|archived?|backups?|deprecated"
    r"|legacy|presets|scaffolds?|boilerplates?|stubs|snippets|vendor|demos?)(?:$|[-_.])",
    re.IGNORECASE,
)
_PUT_ASIDE = frozenset({"old", "prototype", "prototypes", "temp", "tmp"})
"""Folders whose files wait for something or are no longer used. A project may have such a word in its name."""
_ARCHIVES = frozenset({"archive", "archived", "archives", "_archive", "deprecated"})
_TEMPLATE = re.compile(r"_|.*[-_.](?:template|example|sample)\.md\Z|template[-_.]", re.IGNORECASE)
_HOLDERS = frozenset({"agents", "commands", "extensions", "packages", "plugins", "skills"})
"""Folders whose folders have a name each, such as a skill called `docs`."""


def is_example(display: str) -> bool:
    """Tell whether a file lies in a folder of examples, documentation, tests or old copies, or is called so."""
    parts = PurePosixPath(display).parts
    if parts[-1].endswith(".md"):
        parts = parts[:-1]
    return any(
        (_EXAMPLE.search(part) is not None or part.lower() in _PUT_ASIDE)
        and not (index and parts[index - 1] in _HOLDERS)
        for index, part in enumerate(parts)
    )


def is_archived(display: str) -> bool:
    """Tell whether a file lies in a folder of what its owner no longer maintains."""
    return any(part.lower() in _ARCHIVES for part in PurePosixPath(display).parts[:-1])


def is_template(display: str) -> bool:
    """Tell whether a file is called a template, which someone copies and fills in, or lies in a folder of sources.

    Programs that make projects from templates name folders such as `{{cookiecutter.slug}}`.
    """
    *folders, name = PurePosixPath(display).parts
    return any(folder.startswith("_") or "{{" in folder for folder in folders) or (
        name.endswith(".md") and _TEMPLATE.match(name) is not None
    )
