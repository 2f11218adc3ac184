"""The page on installation names every extra of the distribution, and no other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = frozenset({"calibrate"})
"""Extras that are only parts of others."""


def test_the_page_names_each_extra() -> None:
    """Each extra that users may want is on the page, in a command or in its table."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = set(project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["extras"]) - PARTS
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    commands = {name for group in re.findall(r"pip install \"\.\[([\w,-]+)\]\"", page) for name in group.split(",")}
    rows = {
        name for cell in re.findall(r"^\| (`[^|]*`) \|", page, re.MULTILINE) for name in re.findall(r"`([\w-]+)`", cell)
    }
    assert extras == (commands | rows) - {"octoc"}
