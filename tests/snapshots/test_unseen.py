"""Texts of the code that no other snapshot shows: the list makes a change of their wording a difference, too."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for path in sorted([*ROOT.glob("octoc/**/*.py"), *ROOT.glob("plugins/*/octoc_*/**/*.py")])
    if not path.is_relative_to(ROOT / "octoc" / "testing")  # which no user or model sees
]
SHOWN = [path for path in ROOT.glob("tests/snapshots/*/*") if path.parent.name not in ("unseen", "__pycache__")]
_WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? [a-z`\"'{(]")
_HOLE = "{}"


def templates(source: str) -> Iterator[str]:
    """Yield the prose of a module but its docstrings: texts of two words and more, a value of an f-string as `{}`."""
    tree = ast.parse(source)
    quiet = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.JoinedStr) and id(node) not in quiet:
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else _HOLE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet | inner:
            text = node.value
        if _WORDS.search(text):
            yield text


def is_shown(template: str, lines: str) -> bool:
    """Tell whether the fixed parts of a template stand in the snapshots."""
    parts = [" ".join(part.split()) for part in template.split(_HOLE)]
    return all(part in lines for part in parts if _WORDS.search(part) or len(parts) == 1)


def test_the_texts_that_no_snapshot_shows_are_as_recorded(snapshots: Callable[[str, Mapping[str, str]], None]) -> None:
    """Every text of the code that a user or a model may read is in a snapshot, or in this list, word for word."""
    shown = " ".join(" ".join(path.read_text(encoding="utf-8") for path in SHOWN).split())
    shown = html.unescape(shown.replace("\\n", " ").replace('\\"', '"')).replace(" stderr: ", " ")
    found = {text for path in SOURCES for text in templates(path.read_text(encoding="utf-8"))}
    unseen = sorted(" ".join(text.split()) for text in found if not is_shown(text, shown))
    assert 100 < len(unseen) < len(found)
    snapshots("unseen", {"texts.txt": "\n".join(unseen) + "\n"})
