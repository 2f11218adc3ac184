"""The index as plain arrays: postings by hashed term, a vector per tool, and tool intents.

The entries of a tool do not depend on other tools, so that an index can be masked and extended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.search.fields import ToolText, impact, spelled_terms, term_weights
from octoc.search.words import hashed, misspellings, spelled

Vector = NDArray[np.float32]
Array = NDArray[Any]

LEXICAL = ("hashes", "starts", "ids", "impacts", "near", "near_terms", "servers")
"""Arrays of every index: sorted u64 hashes of T terms, T + 1 pointers, and for each posting a tool's number and an
impact in 255ths; sorted hashes of misspellings, with the number of the term that each may mean; for each tool the
number of its server."""
DENSE = ("vectors", "scales", "server_vectors", "deed_of", "deed_weights")
"""Arrays of an index made with an encoder: n rows of 8-bit integers and the factor of each row; a vector for each
server; for each tool the nearest intents, and their cosines, 0 for none."""
TOOL_INTENTS = ("says", "says_scales", "says_starts", "abouts", "abouts_scales", "abouts_of", "terms", "term_starts")
"""Arrays of the intents: vectors of people's requests, a range per intent; vectors of tools' descriptions, with the
intent of each; the hashed terms of the requests, a range per intent."""
NEEDS = ("needs", "needs_scales", "needs_of")
"""Arrays of the needs, an index's measure of what its tools do not do: vectors of their descriptions; for each tool the
numbers of those that it serves, and the number of needs in places without one."""

NEEDS_PER_TOOL = 2
SERVES = 0.55
"""The least cosine between a tool and a need that it serves."""
INTENTS_PER_TOOL = 2
NEAR = 0.5
"""The least cosine between a tool and the description of an intent that the tool serves."""

_WHOLE = 10_000  # rows that are kept as floats; more are converted anew for each query, block by block
_BLOCK = 8192


@attrs.frozen(kw_only=True, eq=False)
class Postings:
    """A lexical index of n tools."""

    hashes: NDArray[np.uint64]
    starts: Array
    ids: Array
    impacts: NDArray[np.uint8]
    near: NDArray[np.uint64]
    near_terms: Array
    count: int

    def of(self, term: int) -> tuple[Array, Array]:
        """Return the numbers of the tools that have a hashed term, ascending, and its impacts in 255ths."""
        # An absent term runs the same code as one that only tools out of scope have, so that timing reveals nothing.
        wanted = np.uint64(term)
        first = int(self.starts[self.hashes.searchsorted(wanted, "left")])
        last = int(self.starts[self.hashes.searchsorted(wanted, "right")])
        return self.ids[first:last], self.impacts[first:last]

    def impacts_of(self, terms: Sequence[int], number: int) -> list[int]:
        """Return the impact of each hashed term in one tool, in 255ths; 0 if the tool does not have it."""
        wanted = np.array(terms, np.uint64)
        first = self.starts[self.hashes.searchsorted(wanted, "left")].tolist()
        last = self.starts[self.hashes.searchsorted(wanted, "right")].tolist()
        impacts = []
        for begin, end in zip(first, last, strict=True):
            place = begin + self.ids[begin:end].searchsorted(number) if begin < end else end
            impacts.append(int(self.impacts[place]) if place < end and self.ids[place] == number else 0)
        return impacts

    def near_to(self, misspelt: Sequence[int]) -> list[int]:
        """Return the hashed terms near a term with these hashed misspellings, ascending."""
        wanted = np.array(misspelt, np.uint64)
        first = np.searchsorted(self.near, wanted, "left").tolist()
        last = np.searchsorted(self.near, wanted, "right").tolist()
        terms = {int(term) for begin, end in zip(first, last, strict=True) for term in self.near_terms[begin:end]}
        return sorted(int(self.hashes[term]) for term in terms)


@attrs.frozen(eq=False)
class Rows:
    """Vectors as rows of 8-bit integers, shape (n, d), each with a scale."""

    whole: NDArray[np.int8]
    scales: Vector

    @classmethod
    def of(cls, vectors: Vector) -> Rows:
        """Create them from vectors, shape (n, d)."""
        scales = (np.abs(vectors).max(axis=1, initial=0.0) / 127).astype(np.float32)
        scales[scales == 0] = 1
        return cls(np.rint(vectors / scales[:, None]).astype(np.int8), scales)

    @cached_property
    def _floats(self) -> Vector:
        return self.whole.astype(np.float32)

    def cosines(self, queries: Vector, rows: Array | None = None) -> Vector:
        """Return the products of every vector, or of those numbered `rows`, with k queries: shape (n, k)."""
        if rows is not None:
            chosen = self.whole[rows].astype(np.float32)
            some: Vector = np.einsum("nd,kd->nk", chosen, queries) * self.scales[rows][:, None]
            return some
        # einsum instead of BLAS gives the same bits for any number of threads, and does not wait for a second one.
        if len(self.whole) <= _WHOLE:
            every: Vector = np.einsum("nd,kd->nk", self._floats, queries) * self.scales[:, None]
            return every
        products = np.empty((len(self.whole), len(queries)), np.float32)
        for start in range(0, len(self.whole), _BLOCK):
            block = self.whole[start : start + _BLOCK].astype(np.float32)
            products[start : start + _BLOCK] = np.einsum("nd,kd->nk", block, queries)
        products *= self.scales[:, None]
        return products


@attrs.frozen(kw_only=True, eq=False)
class ToolIntents:
    """The g tool intents (what people want of tools); see `TOOL_INTENTS`."""

    says: Rows
    starts: Array
    abouts: Rows
    abouts_of: Array
    terms: NDArray[np.uint64]
    term_starts: Array

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, arrays: Mapping[str, Array]) -> ToolIntents:
        """Create them from the arrays named in `TOOL_INTENTS`. Raises: KeyError if one is missing."""
        return cls(
            says=Rows(arrays["says"], arrays["says_scales"]),
            starts=arrays["says_starts"],
            abouts=Rows(arrays["abouts"], arrays["abouts_scales"]),
            abouts_of=arrays["abouts_of"],
            terms=arrays["terms"],
            term_starts=arrays["term_starts"],
        )

    def nearest(self, vectors: Vector) -> tuple[Array, Vector]:
        """Return the `INTENTS_PER_TOOL` intents nearest to tools' vectors, and the cosines, 0 below `NEAR`.

        Returns: shapes (n, k); equally near ones in the intents' order.
        """
        products = self.abouts.cosines(vectors).T
        nearness = np.full((len(vectors), len(self)), -1.0, np.float32)
        for intent, cosines in zip(self.abouts_of.tolist(), products.T, strict=True):
            np.maximum(nearness[:, intent], cosines, out=nearness[:, intent])
        intents = np.argsort(-nearness, axis=1, kind="stable")[:, :INTENTS_PER_TOOL]
        weights = np.take_along_axis(nearness, intents, axis=1)
        weights[weights < NEAR] = 0
        return intents.astype(np.uint16), weights

    def terms_of(self, intents: Array, weights: Vector) -> list[int]:
        """Return the hashed terms of a tool's intents with a weight above 0."""
        chosen = [int(intent) for intent, weight in zip(intents, weights, strict=True) if weight > 0]
        return [
            int(term)
            for intent in chosen
            for term in self.terms[self.term_starts[intent] : self.term_starts[intent + 1]]
        ]

    def scores(self, queries: Vector) -> Vector:
        """Return the highest cosine of each intent's messages with each of k queries: shape (g, k)."""
        return np.maximum.reduceat(self.says.cosines(queries), self.starts[:-1].astype(np.int64), axis=0)


def needs_of(vectors: Vector, needs: Rows) -> Array:
    """Return the numbers of the needs that each of n tools serves, the nearest first: shape (n, `NEEDS_PER_TOOL`)."""
    products = needs.cosines(vectors).T
    nearest = np.argsort(-products, axis=1, kind="stable")[:, :NEEDS_PER_TOOL]
    nearest[np.take_along_axis(products, nearest, axis=1) < SERVES] = len(needs.whole)
    return nearest.astype(np.uint16)


@attrs.frozen(kw_only=True, eq=False)
class Meaning:
    """The dense part of an index of n tools."""

    vectors: Rows
    server_vectors: Vector
    intent_of: Array
    intent_weights: Vector
    needs_of: Array | None = None


@attrs.frozen(kw_only=True, eq=False)
class Index:
    """An index of n tools: `servers` has the number of each one's server.

    `meaning` and `intents` are None without an encoder, `needs` also in an older bundle.
    """

    postings: Postings
    servers: Array
    meaning: Meaning | None = None
    intents: ToolIntents | None = None
    needs: Rows | None = None

    def __len__(self) -> int:
        return self.postings.count

    @classmethod
    def of(cls, arrays: Mapping[str, Array]) -> Index:
        """Create it from the arrays named in `LEXICAL` and, if present, in `DENSE`, `TOOL_INTENTS` and `NEEDS`.

        Raises: KeyError if one of a set is missing; ValueError if they do not fit each other.
        """
        count = len(arrays["servers"])
        postings = Postings(**{name: arrays[name] for name in LEXICAL[:-1]}, count=count)
        if len(postings.starts) != len(postings.hashes) + 1 or len(postings.ids) != len(postings.impacts):
            raise ValueError("the arrays of the search index do not fit each other")
        if "vectors" not in arrays:
            return cls(postings=postings, servers=arrays["servers"])
        meaning = Meaning(
            vectors=Rows(arrays["vectors"], arrays["scales"]),
            server_vectors=arrays["server_vectors"],
            intent_of=arrays["deed_of"],
            intent_weights=arrays["deed_weights"],
            needs_of=arrays.get("needs_of"),
        )
        needs = Rows(arrays["needs"], arrays["needs_scales"]) if "needs" in arrays else None
        if len(meaning.vectors.whole) != count or len(meaning.intent_of) != count:
            raise ValueError("the search index does not have one vector per tool")
        intents = ToolIntents.of(arrays)
        return cls(postings=postings, servers=arrays["servers"], meaning=meaning, intents=intents, needs=needs)


def lexical_arrays(tools: Sequence[ToolText]) -> dict[str, Array]:
    """Return the arrays of `LEXICAL` without `servers` for these tools, numbered in order."""
    by_term: dict[int, list[tuple[int, int]]] = {}
    for number, tool in enumerate(tools):
        weights = term_weights(tool)
        for term, weight in weights.items():
            by_term.setdefault(term, []).append((number, impact(weight)))
        # A separate list of the tools that spell a term out, so that a misspelling does not depend on other tools.
        for word in sorted(spelled_terms(tool)):
            by_term.setdefault(spelled(word), []).append((number, impact(weights[hashed(word)])))
    hashes = sorted(by_term)
    places = {term: place for place, term in enumerate(hashes)}
    vocabulary = {word for tool in tools for word in spelled_terms(tool)}
    near = sorted((wrong, places[spelled(word)]) for word in vocabulary for wrong in misspellings(word))
    lengths = [len(by_term[term]) for term in hashes]
    postings = [pair for term in hashes for pair in by_term[term]]
    return {
        "hashes": np.array(hashes, np.uint64),
        "starts": np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32),
        "ids": np.array([number for number, _ in postings], small(len(tools))),
        "impacts": np.array([value for _, value in postings], np.uint8),
        "near": np.array([wrong for wrong, _ in near], np.uint64),
        "near_terms": np.array([place for _, place in near], small(len(hashes))),
    }


def small(count: int) -> type[np.unsignedinteger[Any]]:
    """Return the narrowest type for the numbers below `count`."""
    return np.uint16 if count <= 1 << 16 else np.uint32


def mixed(parts: Sequence[tuple[float, Vector]]) -> Vector:
    """Return the unit vector of a weighted sum; zeros if its parts cancel out."""
    total: Vector = np.sum(np.stack([weight * vector for weight, vector in parts]), axis=0, dtype=np.float32)
    return total / np.float32(float(np.linalg.norm(total)) or 1.0)
