"""Fit the weights of `octoc/search/fit.py` to the development queries, and say how well they do on other queries.

    python -m benchmarks.search_fit

Queries are asked in scopes of 20, 8, 3 and 1 servers of the recorded lists; a query whose tools are all out of scope
has no answer there. Each scope size, and answerable and unanswerable queries of one size, have the same weight. The
figures come from ten folds that share no query.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.measure import realworld
from benchmarks.search import HALVES, SERVERS, read_queries, recorded_session
from octoc.runtime import Session
from octoc.search.fit import FEWEST, LEAST, Measures
from octoc.search.products import server_name
from octoc.search.rank import Query, rank

LOST = {"with meaning": 0.08, "by words": 0.10}
"""Share of the answerable queries over all servers that the threshold labels."""

FOLDS = 10
NAMES = {
    "with meaning": ("size", "share", "spelled", "unknown", "lacking", "named", "meaning", "intents", "need"),
    "by words": ("size", "share", "spelled", "unknown", "lacking", "named"),
}

Array = NDArray[Any]


def main() -> None:
    """Fit and print."""
    real = realworld()
    if real is None:
        return
    queries = read_queries(HALVES["develop"])
    with tempfile.TemporaryDirectory() as folder:
        session = recorded_session(Path(folder), real)
        for method, names in NAMES.items():
            cases = _cases(session, queries, by_words=method == "by words")
            _fit(method, names, cases)


def _scopes(sizes: Mapping[str, int]) -> list[tuple[str, ...]]:
    draw = random.Random(5)  # the same scopes on every run
    alone = [(name,) for name in SERVERS if sizes[name] >= FEWEST]
    drawn = [tuple(draw.sample(list(SERVERS), count)) for count in (3, 3, 3, 3, 3, 3, 8, 8, 8)]
    return [tuple(SERVERS), *alone, *drawn]


def _cases(
    session: Session, queries: Sequence[Mapping[str, Any]], *, by_words: bool
) -> list[tuple[int, int, bool, Measures]]:
    """Return the number of servers, the query's number, whether a tool does it, and its measures, for each scope."""
    loaded = session.state.loaded
    catalog, embed = loaded.catalog, loaded.routing.encode
    parts = loaded.search._parts(embed)  # noqa: SLF001  # the measures of a scope, which no public function returns
    of_server: dict[str, list[int]] = {}
    for number in range(len(catalog)):
        of_server.setdefault(catalog[number].id.server, []).append(number)
    places = {server.name: place for place, server in enumerate(loaded.bundle.servers)}
    known: dict[str, Any] = {}

    def remembered(text: str) -> Any:
        if text not in known:
            known[text] = embed(text)
        return known[text]

    cases = []
    for scope in _scopes({name: len(numbers) for name, numbers in of_server.items()}):
        rows = np.array(sorted(number for name in scope for number in of_server[name]), np.int64)
        named = {name: (places[server],) for server in scope if (name := server_name(server))}
        for number, query in enumerate(queries):
            asked = Query.of(query["query"], None if by_words else remembered, named)
            measures = rank(asked, parts, rows, str, 1, by_words=by_words).measures
            answered = any(tool.partition("/")[0] in scope for tool in query["tools"])
            if measures is not None and asked.is_judged:
                cases.append((len(scope), number, answered, measures))
    return cases


def _fit(method: str, names: Sequence[str], cases: Sequence[tuple[int, int, bool, Measures]]) -> None:
    sizes, numbers, answered = (np.array(column) for column in list(zip(*cases, strict=True))[:3])
    values = np.array([[measures.values()[name] for name in names] for *_, measures in cases])
    weights = np.zeros(len(cases))
    for size in set(sizes.tolist()):
        for kind in (True, False):
            group = (sizes == size) & (answered == kind)
            weights[group] = len(cases) / (8 * group.sum())
    scores = np.zeros(len(cases))
    for fold in range(FOLDS):
        test = np.random.default_rng(1).permutation(numbers.max() + 1)[numbers] % FOLDS == fold
        scores[test] = _model(values[~test], answered[~test], weights[~test]).decision_function(values[test])
    whole = sizes == len(SERVERS)
    label = LOST[method]
    print(f"\n{method}: {len(cases)} cases, in ten folds with the threshold for {label:.0%} of those over all servers")
    least = np.quantile(scores[whole & answered], label)
    for size in sorted(set(sizes.tolist()), reverse=True):
        here = sizes == size
        lost, caught = np.mean(scores[here & answered] < least), np.mean(scores[here & ~answered] < least)
        print(f"  {size:>2} servers: {lost:>5.0%} of answerable and {caught:>5.0%} of unanswerable queries labelled")
    model = _model(values, answered, weights)
    least = np.quantile(model.decision_function(values)[whole & answered], label)
    found = {"bias": float(model.intercept_[0] - least), **dict(zip(names, model.coef_[0].tolist(), strict=True))}
    print(f"  fits from {LEAST} on with", {name: round(weight, 2) for name, weight in found.items()})


def _model(values: Array, answered: Array, weights: Array) -> LogisticRegression:
    return LogisticRegression(C=100.0, max_iter=2000).fit(values, answered, sample_weight=weights)


if __name__ == "__main__":
    main()
