"""Octo's `find_tools` ranking by the number of query words in a tool's name and description, without numpy."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from octoc.search import DEFAULT_LIMIT


@attrs.frozen(kw_only=True)
class Document:
    """The searched texts of a tool. `key` is the caller's own number for it."""

    key: int
    name: str
    description: str


@attrs.frozen(kw_only=True)
class Hit:
    """A found document; `score` is the number of query words in it, a repeated word counted each time."""

    key: int
    score: int


def rank(query: str, documents: Iterable[Document], limit: int = DEFAULT_LIMIT) -> list[Hit]:
    """Return at most `limit` documents that have a word of the query as a substring, the most words first.

    Words are separated by white space and compared in lower case; equal scores keep the order of `documents`; an empty
    query finds nothing. Source: Octo, `find_tools`.
    """
    words = query.lower().split()
    hits = []
    for document in documents:
        haystack = f"{document.name.lower()} {document.description.lower()}"
        score = sum(word in haystack for word in words)
        if score:
            hits.append(Hit(key=document.key, score=score))
    hits.sort(key=lambda hit: -hit.score)
    return hits[: max(0, limit)]
