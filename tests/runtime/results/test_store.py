"""What is kept of results: where it is, for how long, and for whom."""

import gc
import logging
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.runtime.results import ResultStore
from octoc.runtime.store import ENTRY_OVERHEAD


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def _store(memory: int = 10_000, disk: int = 0, clock: Clock | None = None) -> ResultStore:
    return ResultStore(memory_bytes=memory, disk_bytes=disk, seconds=60, clock=clock or Clock())


def _kept(store: ResultStore, owner: int, text: str) -> str:
    handle = store.keep(owner, text)
    assert handle is not None
    return handle


def test_what_was_kept_is_there_again() -> None:
    """Each part of a kept text comes back as it was, also halves of surrogate pairs."""
    store = _store()
    handle = store.keep(1, ("é🙂", "", "\ud800"))
    assert handle is not None
    assert store.parts(1, handle) == 3
    assert [store.text(1, handle, part) for part in range(3)] == ["é🙂", "", "\ud800"]
    with pytest.raises(IndexError):
        store.text(1, handle, -1)


def test_another_owners_handle_is_as_unknown_as_any() -> None:
    """A handle opens nothing for anyone but the owner that kept the text."""
    store = _store()
    handle = _kept(store, 1, "secret")
    assert (store.text(2, handle), store.parts(2, handle)) == (None, None)
    assert (store.text(2, "r-other"), store.parts(2, "r-other")) == (None, None)
    assert store.text(1, handle) == "secret"


def test_texts_are_forgotten_in_time() -> None:
    """A text is there up to its time, and read or not, no longer."""
    clock = Clock()
    store = _store(clock=clock)
    handle = _kept(store, 1, "text")
    clock.now = 59.9
    assert store.text(1, handle) == "text"
    clock.now = 60
    assert store.text(1, handle) is None
    assert store.memory_used == 0


def test_what_was_not_used_for_longest_goes_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the limit of memory, texts go to files of their own that only the user can read."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = _store(memory=2 * (1000 + ENTRY_OVERHEAD), disk=10_000)
    first, second = _kept(store, 1, "a" * 1000), _kept(store, 1, "b" * 1000)
    assert list(tmp_path.iterdir()) == []
    assert store.text(1, first) == "a" * 1000
    third = _kept(store, 1, "c" * 1000)
    (folder,) = tmp_path.iterdir()
    assert folder == store.folder
    (file,) = folder.iterdir()
    assert file.read_text() == "b" * 1000
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    assert [store.text(1, handle) for handle in (first, second, third)] == ["a" * 1000, "b" * 1000, "c" * 1000]
    store.close()
    assert not folder.exists()
    assert store.keep(1, "x") is None
    store.close()


def test_the_folder_goes_with_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that nobody closed leaves no files behind."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = _store(memory=0, disk=10_000)
    _kept(store, 1, "text")
    assert len(list(tmp_path.iterdir())) == 1
    del store
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_text_that_fits_nowhere_is_not_kept() -> None:
    """What is larger than memory and disk has no handle, and pushes nothing out."""
    store = _store(memory=2000, disk=3000)
    handle = _kept(store, 1, "small")
    assert store.keep(1, "x" * 5000) is None
    assert store.text(1, handle) == "small"
    store.close()


def test_a_disk_that_refuses_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When a file cannot be written there is no handle, and the log has the reason but not the text."""
    missing = tmp_path / "missing"
    monkeypatch.setattr("tempfile.tempdir", str(missing))
    store = _store(memory=0, disk=10_000)
    with caplog.at_level(logging.DEBUG):
        assert store.keep(1, "the contents") is None
    assert "No such file or directory" in caplog.text
    assert "contents" not in caplog.text
    missing.mkdir()
    assert store.keep(1, "again") is not None
    store.close()


def test_a_file_that_went_away_is_as_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kept file that somebody removed or cut is no more there, without an error."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = _store(memory=0, disk=10_000)
    removed, cut = _kept(store, 1, "one"), _kept(store, 1, "two")
    assert store.folder is not None
    one, two = sorted(store.folder.iterdir())
    one.unlink()
    os.truncate(two, 1)
    assert (store.text(1, removed), store.text(1, cut)) == (None, None)
    assert store.disk_used == 0
    store.close()


@pytest.mark.parametrize("way", ["forget", "abandon"])
def test_an_owners_texts_go_with_it(way: str) -> None:
    """What an owner kept is forgotten with it, and nobody else's."""
    store = _store()
    mine, other = _kept(store, 1, "mine"), _kept(store, 2, "other")
    getattr(store, way)(1)
    assert (store.text(1, mine), store.text(2, other)) == (None, "other")


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3000)), max_size=40),
    st.integers(0, 5000),
    st.integers(0, 9000),
)
def test_the_store_is_bounded_and_never_mixes_texts(kept: list[tuple[int, int]], memory: int, disk: int) -> None:
    """Whatever is kept, memory and disk stay within their limits, and a handle gives its own text or none."""
    store = _store(memory, disk)
    texts: dict[str, tuple[int, str]] = {}
    for number, (owner, size) in enumerate(kept):
        text = f"{number}:" + "x" * size
        handle = store.keep(owner, text)
        assert store.memory_used <= memory
        assert store.disk_used <= disk
        if handle is not None:
            texts[handle] = (owner, text)
            assert store.text(owner, handle) == text
    for handle, (owner, text) in texts.items():
        assert store.text(owner, handle) in (text, None)
        assert store.text(owner + 1, handle) is None
    store.close()
    assert (store.memory_used, store.disk_used) == (0, 0)
