"""The settings of `find_tools`, which the workspace and the bundle share."""

from __future__ import annotations

import attrs

from octoc.choices import Bind, Rank


@attrs.frozen(kw_only=True)
class SearchSettings:
    """How `find_tools` ranks and answers.

    Args:
        rank: `default` by words and meaning, `bm25` by words alone, `octo` by Octo's own rule.
        max_tokens: the length of an answer, by the approximate count, in which it has signatures and schemas; the names
            of all found tools are always there. 0 means unlimited.
        bind: `never` lets every agent that searches search, also where its tools cost less than the search.
    """

    rank: Rank = "default"
    max_tokens: int = 400
    bind: Bind = "auto"
