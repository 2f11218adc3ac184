"""From a bundle to a working agent: open it, route messages, show tools, call them.

Hosts and plugins import all that they need from here; the modules below change with each version of octoc. Parts that
`open` does not need, and asyncio, which loads sockets and TLS, are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from octoc.runtime.runtime import Runtime
from octoc.runtime.session import Session
from octoc.runtime.shares import Accounts, account_of, account_to_evict, may_take
from octoc.runtime.values import Routing, SearchHit, UnknownNameError, UsedSkill

if TYPE_CHECKING:
    from octoc.runtime.activation.explain_route import explain_route
    from octoc.runtime.catalog.cache_report import CacheReport
    from octoc.runtime.catalog.catalog import CatalogTool
    from octoc.runtime.catalog.tool_forms import COUNTED_FORMAT, tool_text
    from octoc.runtime.history import (
        Aged,
        Fifo,
        Fitted,
        Message,
        Pruner,
        Repaired,
        SlidingWindow,
        Summarize,
        Summarizer,
    )
    from octoc.runtime.inspection import Inspection
    from octoc.runtime.results.failures import as_mcp_result, failure
    from octoc.runtime.servers.drift import Drift
    from octoc.runtime.skills.use import SkillChange
    from octoc.runtime.skills.validate import Refusal
    from octoc.runtime.tools.server_call import Outcome

__all__ = [
    "COUNTED_FORMAT",
    "Accounts",
    "Aged",
    "CacheReport",
    "CatalogTool",
    "Drift",
    "Fifo",
    "Fitted",
    "Inspection",
    "Message",
    "Outcome",
    "Pruner",
    "Refusal",
    "Repaired",
    "Routing",
    "Runtime",
    "SearchHit",
    "Session",
    "SkillChange",
    "SlidingWindow",
    "Summarize",
    "Summarizer",
    "UnknownNameError",
    "UsedSkill",
    "account_of",
    "account_to_evict",
    "as_mcp_result",
    "explain_route",
    "failure",
    "may_take",
    "tool_text",
]

_LATER = {
    "activation.explain_route": ("explain_route",),
    "catalog.cache_report": ("CacheReport",),
    "catalog.catalog": ("CatalogTool",),
    "catalog.tool_forms": ("COUNTED_FORMAT", "tool_text"),
    "history": (
        *("Aged", "Fifo", "Fitted", "Message", "Pruner", "Repaired", "SlidingWindow", "Summarize", "Summarizer"),
    ),
    "inspection": ("Inspection",),
    "results.failures": ("as_mcp_result", "failure"),
    "servers.drift": ("Drift",),
    "skills.use": ("SkillChange",),
    "skills.validate": ("Refusal",),
    "tools.server_call": ("Outcome",),
}
"""Module -> the names that it exports here."""


def __getattr__(name: str) -> Any:
    """Import an exported name with its first use. Raises: AttributeError for any other."""
    module = next((module for module, names in _LATER.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    return value
