"""Every relative link of a page leads to a file that is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "plugins/*/*.md") for path in ROOT.glob(pattern)
)
_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def dead_links(page: Path, text: str) -> Iterator[str]:
    """Yield the targets of links to other files of the project that do not exist."""
    for target in _LINK.findall(text):
        if "://" not in target and not (page.parent / target).exists():
            yield target


def test_a_dead_link_is_found() -> None:
    """The check sees a link to a file that does not exist, and accepts one that does."""
    assert list(dead_links(ROOT / "README.md", "[a](docs/none.md), [b](LICENSE) and [c](https://x.example)")) == [
        "docs/none.md"
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    """No page links to a file that does not exist."""
    assert list(dead_links(page, page.read_text(encoding="utf-8"))) == []
