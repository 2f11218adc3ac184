"""Results for a model: cutting long ones, and wording failures."""

from octoc.runtime.results.failures import MASK, exception_of, failure, redact, worded
from octoc.runtime.results.truncate import OCTOPUS_MAX_TOKENS, STAGE, Limits, truncate

__all__ = [
    "MASK",
    "OCTOPUS_MAX_TOKENS",
    "STAGE",
    "Limits",
    "exception_of",
    "failure",
    "redact",
    "truncate",
    "worded",
]
