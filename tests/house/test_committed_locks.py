"""Every committed `octoc.lock` is the one that `octoc build` writes today."""

import shutil
from pathlib import Path

import pytest

from octoc.compiler.workspace.build import build

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted(lock for folder in ("benchmarks", "examples") for lock in (ROOT / folder).rglob("octoc.lock"))


@pytest.mark.parametrize("lock", LOCKS, ids=[str(lock.relative_to(ROOT)) for lock in LOCKS])
def test_a_committed_lock_is_current(lock: Path, tmp_path: Path) -> None:
    """A locked build of the workspace passes; after a change of octoc that moves its lock, build it and commit."""
    # A bundle in `dist/` is compared too, and belongs to the last local build.
    root = shutil.copytree(lock.parent, tmp_path / "workspace", ignore=shutil.ignore_patterns("dist"), symlinks=True)
    outcome = build(root, locked=True)
    assert [f"{one.rule.code} {one.message}" for one in outcome.diagnostics if one.rule.code.startswith("OCT5")] == []


def test_the_demo_has_a_lock() -> None:
    """The list above is not empty."""
    assert [lock.parent.name for lock in LOCKS] == ["demo"]
