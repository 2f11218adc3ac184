"""A linear model puts a message's logits together of what each of its words adds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.routing import linear
from octoc.routing.features import Hashed, TfIdf, fit
from octoc.routing.linear import Linear

CORPUS = ["show the git log", "list the docker containers", "what is running on the cluster?", "a b a b c"]
VOCABULARY, IDF = fit(CORPUS, 200)
NGRAMS: dict[str, tuple[TfIdf | Hashed, int]] = {
    "vocabulary": (TfIdf.of(VOCABULARY, IDF), len(VOCABULARY)),
    "hashed": (Hashed(64), 64),
}
MEAN = np.array([0.1, 0.2, 0.3], np.float32)
VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)
TEXTS = st.lists(st.sampled_from([*" ".join(CORPUS).split(), "Log", "unheard", "日本", "x" * 40])).map(" ".join)


def model(kind: str) -> Linear:
    """Return a model of three classes and the background, of three dimensions."""
    ngrams, size = NGRAMS[kind]
    grams = np.random.default_rng(1).normal(size=(size, 4)).astype(np.float32)
    return Linear(ngrams=ngrams, grams=grams, bias=np.array([0, 1, 2, 3], np.float32), vectors=VECTORS, mean=MEAN)


@pytest.mark.parametrize("kind", list(NGRAMS))
@given(TEXTS, st.booleans())
def test_the_words_add_what_the_whole_text_does(kind: str, text: str, with_vector: bool) -> None:
    """The logits are those of the text's row, of bias and vector, and the same once its words are remembered."""
    made = model(kind)
    columns, values = NGRAMS[kind][0].transform(text)
    wanted = made.bias + values @ made.grams[columns]
    vector = np.array([0.6, 0, 0.8], np.float32) if with_vector else None
    if vector is not None:
        wanted = wanted + VECTORS @ (vector - MEAN)
    found = made.logits(text, vector)
    assert found[:-1] == pytest.approx(wanted, abs=1e-5)
    assert found[-1] == -np.inf
    assert made.logits(text, vector).tolist() == found.tolist()


def test_few_words_are_remembered_and_no_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered is bounded by words and by figures, and forgetting changes nothing."""
    made = model("vocabulary")
    long = "x" * 33
    first = made.logits(f"{long} git", None).tolist()
    monkeypatch.setattr(linear, "_MEMO_FIGURES", 12)
    made.logits("show the docker log on a cluster", None)
    assert len(made._memo) <= 3  # nothing else tells what is remembered
    assert long not in made._memo
    assert made.logits(f"{long} git", None).tolist() == first
