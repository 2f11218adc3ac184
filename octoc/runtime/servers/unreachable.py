"""Why a server cannot be used now: the exception that the pool raises and that a call turns into a value."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from octoc.results import FailureKind, ToolFailure

FAILURES = logging.getLogger("octoc.runtime.failures")
"""The log of failed calls and connections, for hosts whose callers see only the kind of a failure."""


class UnreachableError(Exception):
    """A server cannot be used now; nothing was sent to it.

    `lost` means that an earlier connection died. `final` means that the same call must not try again: nothing changes
    within its time, or octoc itself refuses calls of the server for a time.
    """

    def __init__(self, failure: ToolFailure, *, lost: bool = False, final: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.lost = lost
        self.final = final


def unreachable(
    kind: FailureKind, message: str, *, retry_after_s: float | None = None, lost: bool = False, final: bool = False
) -> UnreachableError:
    """Return the exception for a failure before anything was sent."""
    from octoc.runtime.results.failures import failure  # the first call loads what calls need

    failed = attrs.evolve(failure(kind, message), retry_after_s=retry_after_s)
    return UnreachableError(failed, lost=lost, final=final)


def closed() -> UnreachableError:
    """Return the exception for calls that wait, or begin, after the runtime was closed."""
    return unreachable("cancelled", "the runtime is closed", final=True)


def circuit_open(name: str, failures: int, seconds: float, last: FailureKind | None = None) -> UnreachableError:
    """Return the exception for a call that a breaker refuses; `seconds` is 0 while another call is the trial.

    Like `down` and `without_words` it has only the kind of the failure: the text belongs to the call that failed.
    """
    when = f"circuit open for {seconds:.0f} s" if seconds else "another call is trying it now"
    message = f"{name} failed {failures} times in a row{_kind(last)}; {when}"
    return unreachable("unavailable", message, retry_after_s=max(seconds, 1.0), final=True)


def down(server: str, last: FailureKind | None, seconds: float, *, lost: bool) -> UnreachableError:
    """Return the exception for a call whose time ends before the next attempt to connect, in `seconds`."""
    message = f"server `{server}` is down{_kind(last)}; next attempt in {seconds:.1f} s"
    return unreachable("unavailable", message, retry_after_s=seconds, lost=lost, final=True)


def without_words(server: str, failed: ToolFailure) -> ToolFailure:
    """Return the failure of another call's attempt to connect: its kind and wait, without the server's words."""
    if failed.kind == "cancelled":
        return failed  # octoc's own text
    message = f"server `{server}` could not be connected (`{failed.kind}`, in an attempt of another call)"
    return unreachable(failed.kind, message, retry_after_s=failed.retry_after_s).failure


def _kind(last: FailureKind | None) -> str:
    return f" (last failure: `{last}`)" if last else ""
