"""The store of results: where a text is, for how long, and which session can read it."""

import gc
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.runtime.results.store import ENTRY_OVERHEAD, LostResultError, ResultStore


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
    assert store.memory.used == 0


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
    """A store that is not closed leaves no files behind when it is collected."""
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


def test_a_file_that_went_away_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored file that was removed or cut is reported once as lost, and is unknown afterwards."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = _store(memory=0, disk=10_000)
    removed, cut = _kept(store, 1, "one"), _kept(store, 1, "two")
    assert store.folder is not None
    one, two = sorted(store.folder.iterdir())
    one.unlink()
    os.truncate(two, 1)
    for handle in (removed, cut):
        with pytest.raises(LostResultError):
            store.text(1, handle)
        assert store.text(1, handle) is None
    assert store.disk.used == 0
    store.close()


def test_a_removed_folder_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a cleaner removed the folder, its texts are lost and new ones go to a new folder, not to a planted one."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = _store(memory=0, disk=10_000)
    lost, old = _kept(store, 1, "one"), store.folder
    assert old is not None
    shutil.rmtree(old)
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / "0").write_text("evil")
    old.symlink_to(planted)
    with pytest.raises(LostResultError):
        store.text(1, lost)
    handle = _kept(store, 1, "two")
    assert store.folder != old
    assert store.text(1, handle) == "two"
    assert [file.name for file in planted.iterdir()] == ["0"]
    store.close()


def test_an_account_with_most_gives_way_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much one account keeps, another account's texts of at most an equal share stay where they are."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for memory, disk in ((100_000, 0), (0, 100_000), (50_000, 50_000)):
        store = _store(memory, disk)
        mine = [store.keep(1, f"{number}" * 9000, account="a") for number in range(4)]
        theirs = [store.keep(2, "x" * 9000, account="b") for _ in range(50)]
        assert [store.text(1, handle or "") for handle in mine] == [f"{number}" * 9000 for number in range(4)]
        assert store.text(2, theirs[-1] or "") == "x" * 9000
        assert store.text(2, theirs[0] or "") is None
        store.close()


def test_an_account_alone_uses_all_and_gives_room_to_a_newcomer() -> None:
    """A lone account fills the store; a newcomer's texts push its oldest out, up to an equal share."""
    store = _store(10 * (1000 + ENTRY_OVERHEAD))
    old = [_kept(store, 1, "x" * 1000) for _ in range(10)]
    assert all(store.text(1, handle) for handle in old)
    new = [store.keep(2, "y" * 1000, account="b") or "" for _ in range(10)]
    assert [store.text(1, handle) is None for handle in old] == [True] * 5 + [False] * 5
    assert [store.text(2, handle) is None for handle in new] == [True] * 5 + [False] * 5
    store.close()


FORKING = """
import multiprocessing, os, sys
from octoc.runtime.results.store import ResultStore

store = ResultStore(memory_bytes=0, disk_bytes=10_000, seconds=60, clock=lambda: 0.0)
handle = store.keep(1, "parent")
folder = store.folder


def child(way):
    assert store.text(1, handle) == "parent"
    if way == "close":
        store.close()
    elif way == "forget":
        store.forget(1)
    elif way == "evict":
        for number in range(50):
            store.keep(1, "child" * 200)
        assert store.folder != folder
        store.close()
    sys.exit(0)  # runs the finalizers


for way in ("exit", "close", "forget", "evict"):
    number = os.fork()
    if not number:
        child(way)
    assert os.waitpid(number, 0)[1] == 0, way
    process = multiprocessing.get_context("fork").Process(target=child, args=(way,))
    process.start()
    process.join()
    assert process.exitcode == 0, way
    assert [file.read_text() for file in folder.iterdir()] == ["parent"], way
assert store.text(1, handle) == "parent"
assert [path.name for path in folder.parent.iterdir()] == [folder.name]
store.close()
assert not folder.exists()
"""


def test_a_forked_child_deletes_nothing(tmp_path: Path) -> None:
    """A child of `os.fork` or multiprocessing that ends, closes, forgets or evicts leaves its parent's files."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FORKING], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("way", ["forget", "abandon"])
def test_an_owners_texts_go_with_it(way: str) -> None:
    """An owner's texts are dropped with it, and texts of other owners stay."""
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
        assert store.memory.used <= memory
        assert store.disk.used <= disk
        if handle is not None:
            texts[handle] = (owner, text)
            assert store.text(owner, handle) == text
    for handle, (owner, text) in texts.items():
        assert store.text(owner, handle) in (text, None)
        assert store.text(owner + 1, handle) is None
    store.close()
    assert (store.memory.used, store.disk.used) == (0, 0)
