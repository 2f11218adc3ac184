"""Pages that are one session in a terminal: their files are written, their commands run, their outputs compared.

A block with a `title` is a file. In a `console` block a line after `$` is a command, and the lines below it are what it
prints; `…` on a line of its own stands for any lines.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

BLOCK = re.compile(r"^(`{3,})(\w+)([^\n]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_CHANGING = (
    r"\d{4}-\d\d-\d\d",  # dates
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day",
    r"[\d,]+ bytes",
    r"\d\d:\d\d:\d\dZ",
    r"\b(?:[0-9a-f]{16}|[0-9a-f]{12})\b",  # digests and commits
    r"\d+\.\d{4}",  # scores
    r"\d+ ms",
)
"""What one run prints differently from another."""
_ANY = re.compile("|".join(f"({one})" for one in _CHANGING))


def rerun(page: str, folder: Path, env: Mapping[str, str]) -> str:
    """Return a page with the outputs that its commands have in `folder`; those that it has right stay as they are.

    Raises: AssertionError when a shell block has more than installations.
    """
    parts, at = [], 0
    for block in BLOCK.finditer(page):
        parts.append(page[at : block.start()])
        at = block.end()
        fence, language, info, text = block.groups()
        title = _TITLE.search(info)
        if title is not None:
            (folder / title[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / title[1]).write_text(text, encoding="utf-8")
        elif language == "console":
            text = "".join(_rerun(text, folder, env))
        else:
            assert all(line.startswith("pip install ") for line in text.splitlines()), text
        parts.append(f"{fence}{language}{info}\n{text}{fence}")
    return "".join([*parts, page[at:]])


def _rerun(text: str, folder: Path, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the commands of a console block with their outputs."""
    for entry in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = entry.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            check=False,
        )
        printed = re.sub(r"[ \t]+$", "", done.stdout, flags=re.MULTILINE).replace(str(folder), "…")
        yield f"$ {command}\n{shown if says(shown, printed) else printed}"


def says(shown: str, printed: str) -> bool:
    """Return whether a page shows what a command printed."""
    lines = ["(?:.*\n)*?" if line == "…\n" else _pattern(line) for line in shown.splitlines(keepends=True)]
    return re.fullmatch("".join(lines), printed) is not None


def _pattern(line: str) -> str:
    parts, at = [], 0
    for match in _ANY.finditer(line):
        parts += [re.escape(line[at : match.start()]), _CHANGING[(match.lastindex or 1) - 1]]
        at = match.end()
    return "".join([*parts, re.escape(line[at:])])
