"""The examples of the environment's pages, with the `.env` file that each brings."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import octoc.diagnostics
from octoc.compiler.environment import read_environment

DOCS = Path(octoc.diagnostics.__file__).parent / "docs"
BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "code, section, codes",
    [
        ("OCT465", "Bad", {"OCT465", "OCT466"}),
        ("OCT465", "Good", {"OCT466"}),
        ("OCT466", "Bad", {"OCT466"}),
        ("OCT466", "Good", set()),
    ],
)
def test_the_examples_are_true(
    lint: Callable[..., Any], tmp_path: Path, code: str, section: str, codes: set[str]
) -> None:
    """With its `.env` file an example gives the findings of its page; a contract is told wherever there is one."""
    page = (DOCS / f"{code}.md").read_text(encoding="utf-8")
    example = re.split(r"^## ", page.partition(f"## {section}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    files = dict(BLOCK.findall(example))
    (tmp_path / ".env").write_text(files.pop(".env"), encoding="utf-8")
    linted = lint(files, environment=read_environment([tmp_path / ".env"], []))
    assert {found for found, _ in linted.shown()} == codes
