"""The glossary: words in alphabetical order, each once, and sets of tools with classes and functions that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"


def words(page: str) -> list[str]:
    """Return the words of the first table."""
    table = page.partition("\n## Words\n")[2].partition("\n## ")[0]
    return [row.split("|")[1].strip() for row in table.splitlines() if row.startswith("|")][2:]


def misplaced(found: list[str]) -> list[str]:
    """Return each word that does not come after the one before it, as repeated words do not."""
    order = [re.sub(r"[^a-z ]", "", word.lower()) for word in found]
    return [word for word, before, at in zip(found[1:], order, order[1:], strict=False) if at <= before]


def unknown_names(page: str, source: str) -> list[str]:
    """Return the names of the last column of the table of tool sets that `source` does not define."""
    table = page.partition("\n## Which set of tools is this?\n")[2]
    names = re.findall(r"`([\w.]+)` \|$", table, re.MULTILINE)
    assert len(names) > 10
    return [name for name in names if not re.search(rf"\b(class |def )?{name.rpartition('.')[2]}\b[(:]", source)]


def test_words_are_in_alphabetical_order() -> None:
    """Each word of the glossary stands once, in alphabetical order."""
    found = words(GLOSSARY.read_text(encoding="utf-8"))
    assert len(found) > 40
    assert misplaced(found) == []


def test_sets_of_tools_name_what_exists() -> None:
    """Each set of tools names a class, method or field of octoc."""
    source = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("octoc/**/*.py"))
    page = GLOSSARY.read_text(encoding="utf-8")
    assert unknown_names(page, source) == []
    assert unknown_names(page.replace("`Ceiling` |", "`Ceilings` |"), source) == ["Ceilings"]


@pytest.mark.parametrize(
    "found, wrong",
    [(["gate", "area"], ["area"]), (["gate", "Gate"], ["Gate"]), (["profile (of results)", "profile (of scopes)"], [])],
)
def test_a_misplaced_word_is_found(found: list[str], wrong: list[str]) -> None:
    """The check sees words that are out of order or repeated."""
    assert misplaced(found) == wrong
