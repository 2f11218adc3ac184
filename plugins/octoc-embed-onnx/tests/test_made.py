"""What is made once and kept in the user's own cache."""

from pathlib import Path

import pytest

from octoc_embed_onnx import made


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the user's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "octoc" / "encoders"


def _never() -> bytes:
    pytest.fail("it is made again")


def test_it_is_made_once(cache: Path) -> None:
    """A made model is there the next time, and the folder has only it."""
    assert not made.is_kept("a")
    assert made.kept_or_made("a", lambda: b"graph") == b"graph"
    assert made.is_kept("a")
    assert made.kept_or_made("a", _never) == b"graph"
    assert [path.name for path in cache.iterdir()] == ["a.onnx"]


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"x" + data[1:], lambda data: data[:0]])
def test_what_is_damaged_is_made_again(cache: Path, damage: object) -> None:
    """A file that is cut or altered is a miss, and is replaced."""
    made.kept_or_made("a", lambda: b"graph")
    path = cache / "a.onnx"
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    assert made.kept_or_made("a", lambda: b"anew") == b"anew"
    assert made.kept_or_made("a", _never) == b"anew"


def test_a_cache_that_cannot_be_written_costs_time_only(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file stands in the way of the folder, or there is no home, it is made each time."""
    cache.parent.mkdir()
    cache.write_bytes(b"")
    assert [made.kept_or_made("a", lambda: b"graph") for _ in range(2)] == [b"graph"] * 2
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    assert not made.is_kept("a")
    assert made.kept_or_made("a", lambda: b"graph") == b"graph"


def test_a_failure_leaves_nothing(cache: Path) -> None:
    """When making fails, its error is passed on and nothing is kept."""

    def fail() -> bytes:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        made.kept_or_made("a", fail)
    assert not cache.exists()
