"""Plain English: no text has one of the habits that make texts hard to read."""

from __future__ import annotations

import io
import json
import re
import tokenize
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = tomllib.loads((ROOT / "tests" / "house" / "language.toml").read_text(encoding="utf-8"))
HABITS = [(re.compile(habit["pattern"], re.MULTILINE | re.IGNORECASE), habit) for habit in DATA["habit"]]
ANY = re.compile("|".join(habit["pattern"] for habit in DATA["habit"]), re.MULTILINE | re.IGNORECASE)
PATTERNS = (
    "*.md",
    "docs/**/*.md",
    "docs_site/*.py",
    "octoc/**/*",
    "plugins/**/*",
    "schemas/*.json",
    "benchmarks/*",
    "tests/**/*.py",
)
SKIPPED = {"__pycache__", "node_modules", "ready_vectors"}


def prose(path: Path) -> str:
    """Return what people read of a file: comments and texts of a module, descriptions of a schema, a page."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return "\n".join(descriptions(json.loads(source)))
    if path.suffix != ".py":
        return re.sub(r"^```.*?^```", "", source, flags=re.MULTILINE | re.DOTALL)
    if not ANY.search(source):  # as for most files: taking them apart takes longer than all the rest
        return ""
    kinds = (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "\n".join(token.string for token in tokens if token.type in kinds)


def descriptions(schema: object) -> Iterator[str]:
    """Yield the titles and descriptions of a JSON Schema."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("title", "description") and isinstance(value, str):
                yield value
            else:
                yield from descriptions(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from descriptions(value)


def found(text: str) -> Iterator[tuple[str, str]]:
    """Yield each habit in a text: what was found, with the words around it, and what to write instead."""
    for pattern, habit in HABITS:
        for match in pattern.finditer(text):
            around = text[max(0, match.start() - 30) : match.end() + 30]
            yield " ".join(around.split()), habit["instead"]


def files() -> Iterator[Path]:
    """Yield every file with prose."""
    for pattern in PATTERNS:
        for path in sorted(ROOT.glob(pattern)):
            if path.suffix in {".py", ".md", ".json", ".jinja"} and not SKIPPED & set(path.parts) and path.is_file():
                yield path


def test_no_text_has_a_habit() -> None:
    """No comment, docstring, message or page has one of the habits."""
    own = {Path(__file__), Path(__file__).with_name("language.toml")}
    report = [
        f"{path.relative_to(ROOT).as_posix()}: …{words}… -> {instead}"
        for path in files()
        if path not in own
        for words, instead in found(prose(path))
    ]
    assert not report, "\n".join(report)


@pytest.mark.parametrize("habit", DATA["habit"], ids=lambda habit: habit["example"])
def test_a_planted_habit_is_found(habit: Mapping[str, str]) -> None:
    """The example of each habit is found, with what to write instead."""
    assert habit["instead"] in [instead for _, instead in found(habit["example"])]


@pytest.mark.parametrize(
    "text",
    [
        "there is no server `x`",
        "the key is no longer read",
        "Return the tools that match `pattern`.",
        "No such file or directory",
        "file `a` is unknown; did you mean `b`?",
    ],
)
def test_plain_english_passes(text: str) -> None:
    """Common phrases near a habit are not taken for one."""
    assert list(found(text)) == []
