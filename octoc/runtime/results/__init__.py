"""Results for a model: cutting long ones, keeping the rest of them, and wording failures."""

from octoc.runtime.results.failures import (
    as_mcp_result,
    exception_of,
    explained,
    failure,
    named_error,
    unexplained,
    with_retry,
    worded,
)
from octoc.runtime.results.hiding import plain_outcome, progress_without_secrets, without_secrets
from octoc.runtime.results.limits import OCTOPUS_MAX_TOKENS, Limits, ToolLimits
from octoc.runtime.results.parts import STAGE, is_large
from octoc.runtime.results.truncate import truncate
from octoc.runtime.store import ResultStore
from octoc.secrets import MASK, redact

__all__ = [
    "MASK",
    "OCTOPUS_MAX_TOKENS",
    "STAGE",
    "Limits",
    "ResultStore",
    "ToolLimits",
    "as_mcp_result",
    "exception_of",
    "explained",
    "failure",
    "is_large",
    "named_error",
    "plain_outcome",
    "progress_without_secrets",
    "redact",
    "truncate",
    "unexplained",
    "with_retry",
    "without_secrets",
    "worded",
]
