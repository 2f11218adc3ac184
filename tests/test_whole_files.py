"""A file is written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from octoc.whole_files import PRIVATE, write_whole


@pytest.mark.parametrize("umask", [0o000, 0o077], ids=oct)
def test_a_file_has_the_same_mode_under_any_umask(tmp_path: Path, umask: int) -> None:
    """A written file is readable by all and writable by its owner, and folders on the way are made."""
    path = tmp_path / "deep" / "file"
    before = os.umask(umask)
    try:
        write_whole(path, b"x")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"x"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(path.parent) == ["file"]  # noqa: PTH208


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    """Where the place is taken by a folder, the write fails and leaves nothing of its own."""
    (tmp_path / "taken" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="taken"):
        write_whole(tmp_path / "taken", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_private_file_is_its_users_alone(tmp_path: Path) -> None:
    """With the private mode a new file and one that replaces another are 0600, on disk when the call returns."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_whole(path, b"new", mode=PRIVATE, sync=True)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)
