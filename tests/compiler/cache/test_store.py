"""The cache: what was put is got, and whatever is wrong with it is a miss."""

import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import octoc.compiler.cache.store as module
from octoc.compiler.cache.store import Cache, cache_key, workspace_cache
from octoc.plugin.folders import user_cache, without_user_cache

KEY = cache_key("a", 1)


def _entry(root: Path, kind: str) -> Path:
    (entry,) = (root / kind).iterdir()
    return entry


def test_what_was_put_is_got(tmp_path: Path) -> None:
    """JSON and arrays come back equal, by kind and key, from another cache on the same folder."""
    cache = Cache(tmp_path)
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    cache.put_json("words", KEY, {"b": [1, None], "a": "ü"})
    cache.put_array("vectors", "any key: of / a caller", array)
    other = Cache(tmp_path)
    assert other.get_json("words", KEY) == {"b": [1, None], "a": "ü"}
    found = other.get_array("vectors", "any key: of / a caller")
    assert found is not None
    assert np.array_equal(found, array)
    assert found.dtype == np.float32
    assert other.get_json("words", cache_key("other")) is None
    assert other.get_json("raw", KEY) is None


@given(cut=st.integers(0, 80), flip=st.integers(0, 80), bits=st.integers(1, 255))
def test_a_cut_or_altered_entry_is_a_miss(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flip: int, bits: int
) -> None:
    """Whichever byte of an entry is lost or changed, the entry is not there."""
    root = tmp_path_factory.mktemp("cache")
    cache = Cache(root)
    cache.put_json("words", KEY, ["some", "words"])
    entry = _entry(root, "words")
    whole = entry.read_bytes()
    altered = bytearray(whole)
    altered[flip] ^= bits
    for wrong in (whole[:cut], bytes(altered), b"", b"\x00" * 200):
        entry.write_bytes(wrong)
        assert cache.get_json("words", KEY) is None


def test_an_entry_of_another_form_is_a_miss(tmp_path: Path) -> None:
    """An entry that is sound but no array, or no JSON, is not there."""
    cache = Cache(tmp_path)
    cache.put_json("words", KEY, "no array")
    cache.put_array("vectors", KEY, np.zeros(3, dtype=np.float32))
    words, vectors = _entry(tmp_path, "words"), _entry(tmp_path, "vectors")
    words.with_suffix(".npy").write_bytes(words.read_bytes())
    vectors.with_suffix(".json").write_bytes(vectors.read_bytes())
    assert cache.get_array("words", KEY) is None
    assert cache.get_json("vectors", KEY) is None


def test_objects_are_never_kept(tmp_path: Path) -> None:
    """An array that only pickle could hold is refused."""
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        Cache(tmp_path).put_array("vectors", KEY, np.array([{}]))


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    """Where a file stands in the folder's place, putting is silent and getting finds nothing."""
    (tmp_path / "cache").write_text("in the way")
    cache = Cache(tmp_path / "cache")
    cache.put_json("words", KEY, 1)
    assert cache.get_json("words", KEY) is None


def test_no_folder_remembers_nothing() -> None:
    """A cache without a folder takes everything and has nothing."""
    cache = Cache(None)
    cache.put_array("raw", KEY, np.zeros(3, dtype=np.float32))
    assert cache.get_array("raw", KEY) is None


def test_the_folder_may_be_deleted(tmp_path: Path) -> None:
    """A folder that was deleted between two builds, or within one, is made again."""
    cache = Cache(tmp_path / "cache")
    for _ in range(2):
        cache.put_json("words", KEY, 1)
        assert cache.get_json("words", KEY) == 1
        shutil.rmtree(tmp_path / "cache")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache home of the user's own, which is still empty."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def test_each_workspace_has_a_folder_that_only_its_user_can_enter(home: Path, tmp_path: Path) -> None:
    """Two workspaces of one name have two folders; another path to one workspace leads to the same folder."""
    one, two, link = tmp_path / "a" / "acme", tmp_path / "b" / "acme", tmp_path / "link"
    for root in (one, two):
        root.mkdir(parents=True)
    link.symlink_to(one)
    old = os.umask(0)
    try:
        folders = [workspace_cache(root) for root in (one, two, link)]
    finally:
        os.umask(old)
    assert folders[0] == folders[2] != folders[1]
    assert all(folder is not None and folder.parent == home / "octoc" / "workspaces" for folder in folders)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (home / "octoc").rglob("*")} == {0o700}


@pytest.mark.parametrize("part", ["", "workspaces", "workspaces/*"])
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_can_write_is_not_used(home: Path, tmp_path: Path, part: str, mode: int) -> None:
    """A cache folder that other users can write is not read, since they could put entries into it."""
    root = tmp_path / "acme"
    folder = workspace_cache(root)
    assert folder is not None
    shared = folder if part.endswith("*") else home / "octoc" / part
    shared.chmod(mode)
    assert workspace_cache(root) is None
    shared.chmod(0o700)
    assert workspace_cache(root) == folder


def test_a_folder_of_somebody_else_is_not_used(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder that another user owns, as under `sudo` or in a shared `/tmp`, is not used."""
    assert workspace_cache(tmp_path / "acme") is not None
    monkeypatch.setattr(os, "geteuid", lambda: home.stat().st_uid + 1)
    assert workspace_cache(tmp_path / "acme") is None


def test_a_link_is_not_followed(home: Path, tmp_path: Path) -> None:
    """A link in the place of the folder may lead into a repository, so it is not used."""
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    (home / "octoc").symlink_to(own)
    assert workspace_cache(tmp_path / "acme") is None


def test_below_a_folder_that_all_users_may_change_there_is_no_cache(home: Path, tmp_path: Path) -> None:
    """Below a folder that all users may write, the cache is used only when the folder has the sticky bit."""
    home.chmod(0o777)
    assert workspace_cache(tmp_path / "acme") is None
    home.chmod(0o1777)
    assert workspace_cache(tmp_path / "acme") is not None


def test_a_cache_home_inside_the_workspace_is_not_used(home: Path) -> None:
    """What lies in the workspace is the repository's, also where the user's variables lead there."""
    assert workspace_cache(home.parent) is None
    assert workspace_cache(home / "octoc") is None


def test_a_home_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file stands in the way of the cache home there is no folder, and no error."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "home"))
    assert workspace_cache(tmp_path) is None


def test_without_the_users_cache_encoders_keep_nothing_either(home: Path) -> None:
    """In a block without cache the folder is not there for plugins, also not in their threads."""
    with without_user_cache(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(user_cache).result() is None
    assert user_cache() == home / "octoc"


@pytest.mark.usefixtures("home")
def test_the_folders_of_workspaces_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many workspaces there were, the last ones alone are remembered."""
    monkeypatch.setattr(module, "MOST_WORKSPACES", 3)
    folders = [workspace_cache(tmp_path / str(number)) for number in range(9)]
    assert [folder is not None and folder.exists() for folder in folders] == [False] * 6 + [True] * 3


def test_another_version_of_octoc_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one version kept is not there for another."""
    Cache(tmp_path).put_json("words", KEY, 1)
    monkeypatch.setattr(module, "__version__", "999")
    assert Cache(tmp_path).get_json("words", KEY) is None


def test_of_each_kind_the_newest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much is put, a kind has a bounded number of entries, and the last ones are among them."""
    monkeypatch.setattr(module, "MOST_ENTRIES", 4)
    cache = Cache(tmp_path)
    cache.put_json("other", KEY, [0])
    for number in range(9):
        cache.put_json("words", str(number), [number])
        (written,) = (entry for entry in (tmp_path / "words").iterdir() if entry.stat().st_mtime > 100)
        os.utime(written, (number, number))  # clocks of file systems are too coarse to tell one from the next
    assert len(list((tmp_path / "words").iterdir())) == 4
    assert [number for number in range(9) if cache.get_json("words", str(number)) is not None] == [5, 6, 7, 8]
    assert cache.get_json("other", KEY) == [0]
