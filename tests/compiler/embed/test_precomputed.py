"""Vectors of the texts that ship with octoc."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.cache.store import Cache
from octoc.compiler.embed.precomputed import FOLDER, packed, precomputed_vectors, shipped_texts
from octoc.compiler.embed.vectors import SEARCH, digest_of, vectors_of
from octoc.compiler.index.tool_intents import intent_arrays, texts_of, tool_intents
from octoc.search.index import Rows


class Counting:
    """An encoder that counts what it encodes."""

    name, dimension = "counting", 4

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.encoded: list[str] = []

    def embed(self, text: str) -> np.ndarray:
        """Return the same unit vector for any text."""
        self.encoded.append(text)
        return np.array([1, 0, 0, 0], np.float32)

    def files(self) -> dict[str, bytes]:
        """Return nothing: it needs no file."""
        return {}


quiet: Callable[[int, int], None] = lambda *_: None  # noqa: E731


def test_each_text_that_ships_has_a_vector() -> None:
    """The default encoder's file has a row for each text that ships, and no other; write it anew after a change."""
    (path,) = FOLDER.glob("*.npy")
    found = precomputed_vectors(path.stem, 384)
    assert set(found) == {digest_of(text) for text in shipped_texts()}


def test_the_file_of_another_dimension_is_left_alone() -> None:
    """A file that does not fit the encoder, and an encoder without one, have nothing ready."""
    (path,) = FOLDER.glob("*.npy")
    assert precomputed_vectors(path.stem, 16) == {}
    assert precomputed_vectors("unknown", 384) == {}


@given(st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8).filter(lambda row: max(map(abs, row)) > 0.01))
def test_packing_keeps_directions(row: list[float]) -> None:
    """Packing keeps the direction of a vector to a cosine above 0.9999."""
    import tempfile

    vector = np.array(row, np.float32)
    vector /= np.linalg.norm(vector)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "e.npy", packed({digest_of("a"): vector}))
        found = precomputed_vectors("e", 8, Path(folder))[digest_of("a")]
    assert float(found @ vector) > 0.9999
    assert abs(float(np.linalg.norm(found)) - 1) < 1e-5


@given(st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8).filter(lambda row: max(map(abs, row)) > 0.01))
def test_packed_twice_is_packed_once(row: list[float]) -> None:
    """Search packs a shipped vector to the same steps as the encoded one, with almost the same scale."""
    import tempfile

    vector = np.array(row, np.float32)
    vector /= np.linalg.norm(vector)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "e.npy", packed({digest_of("a"): vector}))
        found = precomputed_vectors("e", 8, Path(folder), unit=False)[digest_of("a")]
    again, once = Rows.of(found[None]), Rows.of(vector[None])
    assert again.whole.tolist() == once.whole.tolist()
    np.testing.assert_allclose(again.scales, once.scales, rtol=1e-6)


def test_tool_intents_of_search_are_not_encoded(tmp_path: Path) -> None:
    """With the default encoder, an index encodes only the texts of tools and servers."""
    (path,) = FOLDER.glob("*.npy")
    embedder = Counting(path.stem)
    embedder.dimension = 384
    found = vectors_of(texts_of(tool_intents()), embedder, Cache(tmp_path), quiet, use=SEARCH)
    assert embedder.encoded == []
    assert intent_arrays(tool_intents(), found)["says"].shape == (
        sum(len(intent.says) for intent in tool_intents()),
        384,
    )


def test_another_encoder_encodes_what_ships(tmp_path: Path) -> None:
    """Vectors of the default encoder are never taken for another one's."""
    embedder = Counting("other")
    text = shipped_texts()[0]
    assert text in vectors_of([text], embedder, Cache(tmp_path), quiet)
    assert embedder.encoded == [text]


def test_what_is_ready_is_not_encoded_nor_kept(tmp_path: Path) -> None:
    """With vectors that ship, a text of the library costs nothing, and its vector does not hang on an older cache."""
    (path,) = FOLDER.glob("*.npy")
    embedder = Counting(path.stem)
    embedder.dimension = 384
    text = shipped_texts()[0]
    found = vectors_of([text], embedder, Cache(tmp_path), quiet)
    assert embedder.encoded == []
    assert found[text].shape == (384,)
    assert not any(tmp_path.rglob("*.npy"))
