"""A file is written only where it changed."""

from pathlib import Path

from octoc.compiler.workspace.files import write_if_changed


def test_equal_bytes_are_not_written_again(tmp_path: Path) -> None:
    """A file that has the bytes already is left untouched; another is replaced."""
    path = tmp_path / "file"
    assert write_if_changed(path, b"one")
    first = path.stat()
    assert not write_if_changed(path, b"one")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    assert write_if_changed(path, b"two")
    assert path.read_bytes() == b"two"
