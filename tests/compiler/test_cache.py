"""The cache: what was put is got, and whatever is wrong with it is a miss."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import octoc.compiler.cache as module
from octoc.compiler.cache import Cache, cache_key

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


def test_the_folder_keeps_itself_out_of_git_and_may_be_deleted(tmp_path: Path) -> None:
    """The folder has a `.gitignore` that covers all of it, also after it was deleted between two builds."""
    root = tmp_path / ".octoc" / "cache"
    for _ in range(2):
        Cache(root).put_json("words", KEY, 1)
        assert (root / ".gitignore").read_text() == "*\n"
        for path in sorted(root.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


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
