"""Run messages and queries through a bundle's own runtime, and measure the results. No server is started."""

from octoc.evaluation.figures import RoutingFigures, SearchFigures, Share, confusions, routing_figures, search_figures
from octoc.evaluation.outcomes import MessageOutcome, QueryOutcome, Results, Verdict
from octoc.evaluation.run import open_for_tests, run_fixtures

__all__ = [
    "MessageOutcome",
    "QueryOutcome",
    "Results",
    "RoutingFigures",
    "SearchFigures",
    "Share",
    "Verdict",
    "confusions",
    "open_for_tests",
    "routing_figures",
    "run_fixtures",
    "search_figures",
]
