"""Our TF-IDF against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from octoc.routing.features import TfIdf, fit

TEXTS = [
    "list the open pull requests",
    "a b  c\td",
    "Grüße aus KÖLN",
    "日本 語",
    "İstanbul \u00a0 x",
    "run `pytest -x`",
    "",
    "aaaaaaa",
]
CORPUS = st.lists(st.text(st.sampled_from("abcXY .-éß\n\u00a0日")), min_size=1, max_size=8).filter(
    lambda texts: any(text.split() for text in texts)
)


def theirs(corpus: list[str]) -> TfidfVectorizer:
    """Fit scikit-learn's vectoriser of the same kind."""
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5)).fit(corpus)


def dense(tfidf: TfIdf, text: str) -> list[float]:
    """Return a text's whole row."""
    row = np.zeros(len(tfidf.columns))
    columns, values = tfidf.transform(text)
    row[columns] = values
    return row.tolist()


@given(CORPUS, st.text())
def test_fit_and_transform_are_scikit_learns(corpus: list[str], text: str) -> None:
    """Vocabulary, inverse document frequencies and the rows of known and new texts are scikit-learn's."""
    vocabulary, idf = fit(corpus, 10**6)
    oracle = theirs(corpus)
    assert vocabulary == oracle.get_feature_names_out().tolist()
    assert idf == pytest.approx(oracle.idf_.tolist())
    tfidf = TfIdf.of(vocabulary, idf)
    for each in [*corpus, text]:
        assert dense(tfidf, each) == pytest.approx(oracle.transform([each]).toarray()[0].tolist())


def test_real_looking_texts_have_scikit_learns_rows() -> None:
    """Texts of several scripts, blank ones and short words have scikit-learn's rows."""
    oracle = theirs(TEXTS)
    tfidf = TfIdf.of(*fit(TEXTS, 10**6))
    for text in TEXTS:
        assert dense(tfidf, text) == pytest.approx(oracle.transform([text]).toarray()[0].tolist())


def test_the_most_frequent_grams_are_kept() -> None:
    """A limit keeps the most frequent n-grams, of equals those that sort first, and stays sorted."""
    vocabulary, _ = fit(["ab ab", "ac"], 4)
    assert vocabulary == [" a", " ab", " ab ", "ab"]


def test_a_text_without_known_grams_has_no_features() -> None:
    """A text that shares nothing with the vocabulary is an empty row."""
    assert [row.tolist() for row in TfIdf.of(["ab"], [1.0]).transform("xyz")] == [[], []]
