"""Has a model explain failed tool calls: a function of the host, or an HTTP endpoint that the environment names.

As a plugin it asks the endpoint of `OCTOC_EXPLAIN_URL`. A host passes a `ModelExplainer` to `Runtime.open(explain=…)`.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from typing import TYPE_CHECKING

from octoc.plugin import hookimpl
from octoc_explain.endpoint import ChatEndpoint, EndpointError
from octoc_explain.explainer import WORKERS, ModelExplainer

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from octoc.plugin import FailedCall

__all__ = ["WORKERS", "ChatEndpoint", "EndpointError", "ModelExplainer", "octoc_explain_failure"]

logger = logging.getLogger("octoc.explain")

URL, MODEL, KEY, TYPES = "OCTOC_EXPLAIN_URL", "OCTOC_EXPLAIN_MODEL", "OCTOC_EXPLAIN_KEY", "OCTOC_EXPLAIN_TYPES"


@hookimpl
def octoc_explain_failure(failed: FailedCall) -> Awaitable[str | None] | None:
    """Return what the endpoint of the environment answers; None if no variable names one."""
    explainer = _from_environment(*(os.environ.get(name, "") for name in (URL, MODEL, KEY, TYPES)))
    return None if explainer is None else explainer(failed)


@cache
def _from_environment(url: str, model: str, key: str, types: str) -> ModelExplainer | None:
    """Return the explainer that the variables describe. Logs once what is missing."""
    if not (url and model):
        logger.warning("no failure is explained: set `%s` and `%s`", URL, MODEL)
        return None
    named = frozenset(one.strip() for one in types.split(",") if one.strip())
    return ModelExplainer(ChatEndpoint(url, model, key), agent_types=named or WORKERS)
