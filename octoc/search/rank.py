"""Rank the tools of a scope for a query, with the parts of each score.

Tools outside the scope do not count in anything, neither in counts of terms nor in means, so that a tool that an agent
does not have changes neither its answers nor their scores.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.search.actions import action_of
from octoc.search.fit import LEAST, Measures
from octoc.search.index import Index, Meaning, Postings, Rows, Vector
from octoc.search.products import Name, named_in, products_in
from octoc.search.words import (
    MAX_QUERY_CHARS,
    clauses,
    hashed,
    misspellings,
    query_terms,
    spelled,
    terms,
)

Array = NDArray[Any]

PART_WEIGHTS: Mapping[str, float] = {
    "words": 1.0,
    "meaning": 1.2,
    "clauses": 0.8,
    "intents": 1.0,
    "server": 0.3,
    "server_name": 0.2,
}
"""The weight of each part's z-score. Source: measured by `benchmarks/search.py` on its develop half."""

UNION_ABOVE = 10_000
"""With more tools than this, only the best by each part are scored by clauses."""
UNION = 200

SLIP = 0.6
"""The weight of a term near a misspelt one of the query."""

USUAL_TOOLS = 200
"""The least number of tools assumed for the share of a query's words: most of a few tools of one kind share the word
for their subject, which would then count too little."""

PROMINENT = 80
"""The least impact, in 255ths, of a word for an action: in a tool's name, or in a description that is not long."""

_DIGITS = 4


@attrs.frozen(kw_only=True, eq=False)
class Query:
    """A prepared query: its terms' hashes, its vector and those of its clauses, which are None without an encoder.

    The name of a server in scope is not among the terms, nor in the vectors.

    Args:
        spelled: the word of each term, as the query has it.
        vector: shape (d,), L2-normalised.
        clauses: shape (k, d), k >= 1.
        stems: each term before hashing, for its misspellings.
        servers: the numbers of the servers that the query names.
        products: the known products that the query names, each with the hashes by which tools spell it out.
        action: with a named server, the query's word for an action, and the hashes of which a tool must have one.
        text: the query itself.
    """

    terms: tuple[int, ...]
    stems: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()
    vector: Vector | None = None
    clauses: Vector | None = None
    servers: tuple[int, ...] = ()
    products: tuple[tuple[str, tuple[int, ...]], ...] = ()
    action: tuple[str, tuple[int, ...]] | None = None
    text: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether the query is in the language of the queries that the fit was fitted on."""
        # Imported here, as most queries fit and the tables of languages take a millisecond to load.
        from octoc.routing.languages import ENGLISH, language_of

        return language_of(self.text) == ENGLISH

    @classmethod
    def of(
        cls,
        text: str,
        embed: Callable[[str], Vector] | None = None,
        servers: Mapping[Name, Sequence[int]] | None = None,
    ) -> Query:
        """Create a query from a text, encoded by `embed` unless it is None.

        Args:
            servers: the numbers of the servers in scope by name, from `octoc.search.products.server_name`.
        """
        text = text[:MAX_QUERY_CHARS]
        named, rest = named_in(text, servers or {})
        plain = query_terms(rest)
        action = action_of(rest) if named else None
        query = cls(
            terms=tuple(map(hashed, plain)),
            stems=tuple(plain),
            spelled=tuple(plain.values()),
            servers=named,
            products=tuple((" ".join(name), tuple(map(spelled, terms(" ".join(name))))) for name in products_in(text)),
            action=None if action is None else (action[0], tuple(sorted(map(spelled, action[1])))),
            text=text,
        )
        if embed is None or not rest.strip():
            return query
        parts = clauses(rest)
        whole = embed(rest.strip())
        vectors = [whole] if len(parts) == 1 else [embed(part) for part in parts]
        return attrs.evolve(query, vector=whole, clauses=np.stack(vectors))


@attrs.frozen(kw_only=True)
class RankedTool:
    """A ranked tool. `parts` are the weighted parts of its score."""

    number: int
    score: float
    parts: Mapping[str, float] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Ranking:
    """A ranking: the nearest tools, the best first, whether or not one does what the query asks for.

    Args:
        fit, least: the probability that a tool does it, and the one from which on it counts as a fit.
        missing: the query's words that no tool in scope has, in the query's order.
        unknown: the products in the query that no tool in scope mentions.
        lacking: the query's word for an action that no tool of a named server has; "" otherwise.
        measures: what the fit comes from; None without a tool or a query.
    """

    matches: tuple[RankedTool, ...] = ()
    fit: float = 0.0
    least: float = LEAST
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    lacking: str = ""
    measures: Measures | None = None

    @property
    def fits(self) -> bool:
        """Whether a tool probably does what the query asks for."""
        return bool(self.matches) and self.fit >= self.least


def rank(
    query: Query,
    parts: Sequence[Index],
    rows: Array | None,
    name_of: Callable[[int], str],
    limit: int,
    *,
    by_words: bool = False,
) -> Ranking:
    """Return the tools of a scope nearest to a query, the best first, equal ones by name.

    Args:
        parts: indexes whose tools are numbered consecutively.
        rows: the numbers of the tools in scope, ascending; None for all.
        name_of: a tool's name by its number, for equal scores.
        limit: the most tools to return.
        by_words: use no vectors even if the indexes have some.
    """
    total = sum(map(len, parts)) if rows is None else len(rows)
    if not total or limit < 1 or (not query.terms and query.vector is None):
        return Ranking()
    words, rarities, missing = _words(query, parts, rows, total)
    usual = words
    if total < USUAL_TOOLS:
        usual, rarities, _ = _words(query, parts, rows, USUAL_TOOLS)
    named = _named(query, parts, rows)
    dense = None if by_words else _dense(query, parts, rows, words, named)
    gave = {"words": words}
    least = 0.0
    if dense is not None:
        least = -np.inf
        gave = {"words": PART_WEIGHTS["words"] * _z(words)}
        gave |= {name: PART_WEIGHTS[name] * value for name, value in dense.gave.items()}
    scores = words if dense is None else np.sum(list(gave.values()), axis=0)
    if named is not None:
        gave["named"] = _ahead(scores, named)
        scores = scores + gave["named"]
    if dense is not None and dense.outside is not None:
        scores[dense.outside] = -np.inf
    best = _best(scores, limit, rows, name_of, least)
    chosen = [place for place, _, _ in best]
    columns = (value[chosen].astype(np.float64).round(_DIGITS).tolist() for value in gave.values())
    matches = tuple(
        RankedTool(number=number, score=score, parts=dict(zip(gave, of_tool, strict=True)))
        for (_, number, score), *of_tool in zip(best, *columns, strict=True)
    )
    unknown, lacking = _unknown(query, parts, rows), _lacking(query, parts, rows, named)
    judged = usual if named is None else np.where(named, usual, -1)
    place = int(judged.argmax())
    number = place if rows is None else int(rows[place])
    most = sum(rarities) or 1.0
    measures = Measures(
        tools=total,
        share=float(judged[place]) / most,
        spelled=_spelled_out(query, parts, number, rarities) / most,
        unknown=bool(unknown),
        lacking=bool(lacking),
        named=named is not None,
        **({} if dense is None else dense.measures),
    )
    fit = round(measures.fit(), _DIGITS)
    if fit < LEAST and not (unknown or lacking or query.is_judged):
        fit = 1.0
    return Ranking(matches=matches, fit=fit, missing=missing, unknown=unknown, lacking=lacking, measures=measures)


def _named(query: Query, parts: Sequence[Index], rows: Array | None) -> Array | None:
    """Return which tools in scope a server named in the query has; None if it names none of the scope."""
    if not query.servers:
        return None
    servers = _picked([part.servers for part in parts], rows)
    named: Array = np.logical_or.reduce([servers == server for server in query.servers])
    return named if named.any() else None


def _ahead(scores: Array, named: Array) -> Array:
    """Return what puts the tools of a named server before all others."""
    ahead: Array = named * (scores.max() - scores.min() + 1.0)
    return ahead


def _unknown(query: Query, parts: Sequence[Index], rows: Array | None) -> tuple[str, ...]:
    """Return the products in the query that no tool in scope mentions."""
    return tuple(name for name, spelling in query.products if not _spelling(spelling, parts, rows, all, least=0))


def _lacking(query: Query, parts: Sequence[Index], rows: Array | None, named: Array | None) -> str:
    """Return the query's word for an action that no tool of a named server has, or ""."""
    if query.action is None or named is None:
        return ""
    word, spelling = query.action
    places = np.flatnonzero(named)
    scope = places if rows is None else rows[places]
    return "" if _spelling(spelling, parts, scope, any, least=PROMINENT) else word


def _spelling(
    terms: Sequence[int],
    parts: Sequence[Index],
    rows: Array | None,
    quantity: Callable[[Iterable[bool]], bool],
    *,
    least: int,
) -> bool:
    """Return whether one tool in scope spells out all of the terms, or any of them, with at least this impact."""
    sizes = [len(part) for part in parts]
    mask = _mask(rows, sum(sizes))
    having = [
        {int(number) for numbers, impacts in _having(parts, sizes, term, mask) for number in numbers[impacts >= least]}
        for term in terms
    ]
    return any(quantity(number in one for one in having) for number in set().union(*having))


def _best(
    scores: Array, limit: int, rows: Array | None, name_of: Callable[[int], str], least: float
) -> list[tuple[int, int, float]]:
    """Return (place, number, score) of the highest scores above `least`, equal ones by name."""
    # The methods of arrays, as numpy's functions of the same names take longer than the work on a few values.
    places = (scores > least).nonzero()[0]
    rounded = scores[places].astype(np.float64).round(_DIGITS)
    if len(places) > limit:
        # With all ties of the last one, so that only names decide between them.
        parted = rounded.copy()
        parted.partition(len(places) - limit)
        kept = rounded >= parted[len(places) - limit]
        places, rounded = places[kept], rounded[kept]
    order = (-rounded).argsort(kind="stable")
    places = places[order]
    ranked_scores = rounded[order].tolist()
    ranked = list(zip(places.tolist(), (places if rows is None else rows[places]).tolist(), ranked_scores, strict=True))
    if len(set(ranked_scores)) < len(ranked):
        # Names are looked up only for ties, as that takes longer than the rest.
        tied = {score for score, after in itertools.pairwise(ranked_scores) if score == after}
        ranked.sort(key=lambda one: (-one[2], name_of(one[1]) if one[2] in tied else ""))
    return ranked[:limit]


def _words(
    query: Query, parts: Sequence[Index], rows: Array | None, total: int
) -> tuple[Array, list[float], tuple[str, ...]]:
    """Return the scope's BM25 scores, the rarity of each term, and the words that no tool has.

    The highest possible score is the sum of the rarities, with those of terms that no tool in scope has.

    Args:
        total: the number of tools for the rarity of a term, at least that of the scope.
    """
    sizes = [len(part) for part in parts]
    count = sum(sizes)
    mask = _mask(rows, count)
    scores = np.zeros(count, np.float32)
    rarities = []
    missing = []
    bare = math.log(1 + (total + 0.5) / 0.5)
    for term, stem, word in zip(query.terms, query.stems, query.spelled, strict=True):
        postings = _having(parts, sizes, term, mask)
        if postings:
            rarities.append(_add(scores, postings, total, 1.0))
            continue
        # A term that no tool in scope has may be a misspelling, and still counts as asked for.
        rarities.append(bare)
        misspelt = misspellings(stem)
        near = sorted({one for part in parts for one in part.postings.near_to(misspelt)}) if misspelt else []
        having = [postings for other in near if (postings := _having(parts, sizes, other, mask))]
        for postings in having:
            _add(scores, postings, total, SLIP)
        if not having:
            missing.append(word)
    if rows is not None:
        scores = scores[rows]
    return scores, rarities, tuple(missing)


def _spelled_out(query: Query, parts: Sequence[Index], number: int, rarities: Sequence[float]) -> float:
    """Return the part of a tool's score from words in its name and description, without what else it is for."""
    for part in parts:
        if number < len(part):
            break
        number -= len(part)
    impacts = part.postings.impacts_of(tuple(map(spelled, query.stems)), number)
    return math.fsum(map(operator.mul, rarities, impacts)) / 255


def _mask(rows: Array | None, count: int) -> Array | None:
    """Return an array of shape (count,), true for tools in scope; None for all."""
    if rows is None:
        return None
    mask = np.zeros(count, bool)
    mask[rows] = True
    return mask


def _add(scores: Array, postings: Sequence[tuple[Array, Array]], total: int, share: float) -> float:
    """Add a term's part to the scores of the tools that have it; return its rarity in scope."""
    having = sum(len(numbers) for numbers, _ in postings)
    rarity = math.log(1 + (total - having + 0.5) / (having + 0.5))
    for numbers, impacts in postings:
        scores[numbers] += impacts * np.float32(share * rarity / 255)  # a list has each tool once
    return rarity


def _having(parts: Sequence[Index], sizes: Sequence[int], term: int, mask: Array | None) -> list[tuple[Array, Array]]:
    """Return the tools in scope that have a term, and their impacts, for each index."""
    postings = []
    start = 0
    for part, size in zip(parts, sizes, strict=True):
        numbers, impacts = _in_scope(part.postings, term, mask, start)
        if len(numbers):
            postings.append((numbers.astype(np.intp) + start, impacts))
        start += size
    return postings


def _in_scope(postings: Postings, term: int, mask: Array | None, start: int) -> tuple[Array, Array]:
    ids, impacts = postings.of(term)
    if mask is None:
        return ids, impacts
    kept = mask[start : start + postings.count][ids]
    return ids[kept], impacts[kept]


@attrs.frozen(kw_only=True, eq=False)
class _Dense:
    gave: Mapping[str, Array]
    measures: Mapping[str, float]
    outside: Array | None


def _dense(
    query: Query, parts: Sequence[Index], rows: Array | None, words: Array, named: Array | None
) -> _Dense | None:
    """Return the z-scores of the scope by vectors; None if an index or the query has none."""
    meanings = [part.meaning for part in parts if part.meaning is not None]
    intents = parts[0].intents
    if query.vector is None or query.clauses is None or intents is None or len(meanings) < len(parts):
        return None
    queries = query.vector[None, :]
    near = _picked([one.vectors.cosines(queries)[:, 0] for one in meanings], rows)
    of_intents = intents.scores(queries)[:, 0]
    doing = _picked([(of_intents[one.intent_of] * one.intent_weights).max(axis=1) for one in meanings], rows)
    servers = _picked([part.servers for part in parts], rows).astype(np.int64)
    gave = {"meaning": _z(near), "intents": _z(doing)}
    outside = None
    if len(near) > UNION_ABOVE:
        outside = np.ones(len(near), bool)
        for values in (near, doing, words if named is None else words + _ahead(words, named)):
            outside[np.argpartition(-values, UNION)[:UNION]] = False
        places = np.flatnonzero(~outside)
        numbers = places if rows is None else rows[places]
        clauses = np.zeros(len(near))
        # By the query's mean and spread, as those of the clauses would need every tool.
        clauses[places] = (_rows_of(parts, numbers, query.clauses) - near.mean(dtype=np.float64)) / (near.std() or 1)
        gave["clauses"] = clauses
    else:
        gave["clauses"] = _z(_picked([one.vectors.cosines(query.clauses).max(axis=1) for one in meanings], rows))
    if named is None and (servers != servers[:1]).any():  # np.unique would load numpy.ma
        counted = np.bincount(servers)
        means = np.bincount(servers, weights=near) / np.maximum(counted, 1)
        gave["server"] = _z(means[servers])
        of_names = np.einsum("nd,d->n", meanings[0].server_vectors, query.vector)
        gave["server_name"] = _z(of_names[servers])
    judged = slice(None) if named is None else named
    measures = {"meaning": float(near[judged].max()), "intents": float(doing[judged].max())}
    if parts[0].needs is not None:
        measures["need"] = _need(query.vector, parts[0].needs, meanings, rows)
    return _Dense(gave=gave, measures=measures, outside=outside)


def _need(vector: Vector, needs: Rows, meanings: Sequence[Meaning], rows: Array | None) -> float:
    """Return the cosine of the nearest need that no tool in scope serves."""
    cosines = np.append(needs.cosines(vector[None, :])[:, 0], np.float32(-1))
    served = [one.needs_of for one in meanings if one.needs_of is not None]
    cosines[_picked(served, rows)] = -1
    return float(cosines.max())


def _rows_of(parts: Sequence[Index], numbers: Array, queries: Vector) -> Array:
    """Return the highest product of some tools' vectors with any of the queries."""
    highest = np.empty(len(numbers), np.float32)
    start = 0
    for part in parts:
        inside = (numbers >= start) & (numbers < start + len(part))
        if part.meaning is not None and inside.any():
            highest[inside] = part.meaning.vectors.cosines(queries, numbers[inside] - start).max(axis=1)
        start += len(part)
    return highest


def _picked(values: Sequence[Array], rows: Array | None) -> Array:
    whole = values[0] if len(values) == 1 else np.concatenate(values)
    return whole if rows is None else whole[rows]


def _z(values: Array) -> Array:
    """Return how many standard deviations each value is from the mean; zeros where all are equal."""
    spread = float(values.std(dtype=np.float64))
    if spread < 1e-9:
        return np.zeros(len(values))
    scaled: Array = (values - values.mean(dtype=np.float64)) / spread
    return scaled
