"""Octo's `find_tools` ranking by the number of query words in a tool's name and description, without numpy."""

from __future__ import annotations

from collections.abc import Iterable

from octoc.search import DEFAULT_LIMIT


def rank(query: str, tools: Iterable[tuple[int, str, str]], limit: int = DEFAULT_LIMIT) -> list[tuple[int, int]]:
    """Return at most `limit` tools that have a word of the query as a substring, the most words first.

    Words are separated by white space and compared in lower case; a repeated word counts each time; equal scores keep
    the order of `tools`; an empty query finds nothing. Source: Octo, `find_tools`.

    Args:
        tools: (number, name, description).

    Returns: (number, count of query words).
    """
    words = query.lower().split()
    hits = []
    for number, name, description in tools:
        haystack = f"{name.lower()} {description.lower()}"
        count = sum(word in haystack for word in words)
        if count:
            hits.append((number, count))
    hits.sort(key=lambda hit: -hit[1])
    return hits[: max(0, limit)]
