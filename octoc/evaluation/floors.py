"""Floors: shares below which, or above which, a test fails."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from octoc.evaluation.figures import Share, routing_figures, search_figures
from octoc.evaluation.outcomes import Results

_AT_MOST = "max_"


@attrs.frozen(kw_only=True)
class Floor:
    """A limit of the workspace, and the measured share. `name` is its key in octoc.toml."""

    name: str
    limit: float
    share: Share

    @property
    def held(self) -> bool:
        """Whether the share is as good as the limit; False if nothing was measured."""
        value = self.share.value
        if value is None:
            return False
        return value <= self.limit if self.name.startswith(_AT_MOST) else value >= self.limit


def measured(results: Results, limits: Mapping[str, float]) -> tuple[Floor, ...]:
    """Return the workspace's limits with the measured shares, in the order of `limits`.

    Raises: KeyError for an unknown limit.
    """
    shares = shares_of(results)
    return tuple(Floor(name=name, limit=limit, share=shares[name]) for name, limit in limits.items())


def shares_of(results: Results) -> dict[str, Share]:
    """Return every share that has a limit, by the limit's key."""
    routing, search = routing_figures(results.messages), search_figures(results.queries)
    return {
        "min_right": routing.right,
        "min_precision": routing.precision,
        "min_recall": routing.recall,
        "min_abstention": routing.abstention,
        "max_wrong": routing.wrong,
        "min_search_recall": search.recall,
        "min_search_ndcg": search.ndcg,
        "min_search_nothing": search.nothing,
    }
