"""The status page points at tests and commands that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "status.md").read_text(encoding="utf-8")


def test_everything_that_shows_something_is_there() -> None:
    """Each file, golden case and test that the page names is in the tree."""
    named = re.findall(r"`((?:T|P|benchmarks)/[^`]+)`", PAGE)
    assert len(named) > 50
    missing = []
    for name in named:
        path, _, test = name.partition("::")
        file = ROOT / re.sub(r"^P/", "plugins/", re.sub(r"^T/", "tests/", path))
        if not file.exists() or (test and f"def {test}(" not in file.read_text(encoding="utf-8")):
            missing.append(name)
    assert missing == []


def test_every_make_target_is_there() -> None:
    """Each `make` command that the page names is a target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"`make (\w+)`", PAGE))
    assert targets == {target for target in targets if re.search(rf"^{target}:", makefile, re.MULTILINE)}
