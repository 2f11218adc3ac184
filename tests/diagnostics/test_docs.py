"""Every rule has a page that says what it does, why, and what is bad and good."""

from pathlib import Path

import pytest

import octoc.diagnostics
from octoc.diagnostics.rules import all_rules

DOCS = Path(octoc.diagnostics.__file__).parent / "docs"
SECTIONS = ["## What it does", "## Why it matters", "## Bad", "## Good"]


@pytest.mark.parametrize("code", sorted(all_rules()))
def test_every_rule_has_a_page(code: str) -> None:
    """A page begins with its rule's code and name, then has four sections with examples, then settings or nothing."""
    lines = (DOCS / f"{code}.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# {code} {all_rules()[code].name}"
    assert [line for line in lines if line.startswith("## ")] in (SECTIONS, [*SECTIONS, "## Settings"])
    for section in ("## Bad", "## Good"):
        assert any(line.startswith("```") for line in lines[lines.index(section) :]), section


def test_every_page_is_of_a_rule() -> None:
    """There is no page of a rule that does not exist."""
    assert {page.stem for page in DOCS.glob("*.md")} <= set(all_rules())
