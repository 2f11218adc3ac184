"""Why a server cannot be used now, as what the pool raises and a call turns into a value."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from octoc.results import FailureKind, ToolFailure

FAILURES = logging.getLogger("octoc.runtime.failures")
"""The log of failed calls and connections, for hosts whose callers do not all read the text of a failure."""


class UnreachableError(Exception):
    """A server cannot be used now; nothing was sent to it.

    `lost` tells that it was connected before and its connection had died. `final` tells that the same call had better
    not try again: nothing changes within its time, or octoc itself decided to leave the server alone.
    """

    def __init__(self, failure: ToolFailure, *, lost: bool = False, final: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.lost = lost
        self.final = final


def unreachable(
    kind: FailureKind, message: str, *, retry_after_s: float | None = None, lost: bool = False, final: bool = False
) -> UnreachableError:
    """Return the exception for a failure of which nothing was sent."""
    from octoc.runtime.results.failures import (
        failure,  # here, as in other places: what calls need is loaded with the first
    )

    found = attrs.evolve(failure(kind, message), retry_after_s=retry_after_s)
    return UnreachableError(found, lost=lost, final=final)


def closed() -> UnreachableError:
    """Return what everybody gets who still waits, or comes, when the runtime has been closed."""
    return unreachable("cancelled", "the runtime is closed", final=True)


def circuit_open(server: str, failures: int, last: FailureKind | None, seconds: float) -> UnreachableError:
    """Return the exception for a call that the breaker refuses; `seconds` 0 while another call tries the server.

    Like `down` and `without_words` it names the kind of the failure alone: the text belongs to the call that failed.
    """
    when = f"circuit open for {seconds:.0f} s" if seconds else "another call is trying it now"
    message = f"server `{server}` failed {failures} times in a row{_kind(last)}; {when}"
    return unreachable("unavailable", message, retry_after_s=max(seconds, 1.0), final=True)


def down(server: str, last: FailureKind | None, seconds: float, *, lost: bool) -> UnreachableError:
    """Return the exception for a call whose time ends before the next attempt to connect, `seconds` from now."""
    message = f"server `{server}` is down{_kind(last)}; next attempt in {seconds:.1f} s"
    return unreachable("unavailable", message, retry_after_s=seconds, lost=lost, final=True)


def without_words(server: str, failed: ToolFailure) -> ToolFailure:
    """Return why the attempt of another call to connect failed: its kind and wait, and no word of the server."""
    if failed.kind == "cancelled":
        return failed  # octoc's own text
    message = f"server `{server}` could not be connected (`{failed.kind}`, in an attempt of another call)"
    return unreachable(failed.kind, message, retry_after_s=failed.retry_after_s).failure


def _kind(last: FailureKind | None) -> str:
    return f" (last failure: `{last}`)" if last else ""
