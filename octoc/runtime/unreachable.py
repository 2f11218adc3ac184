"""Why a server cannot be used now, as what the pool raises and a call turns into a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from octoc.results import FailureKind, ToolFailure


class Unreachable(Exception):  # noqa: N818  # a state of the world, not a fault in the program
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
) -> Unreachable:
    """Return the exception for a failure of which nothing was sent."""
    from octoc.runtime.results import failure  # here, as in other places: what calls need is loaded with the first

    found = attrs.evolve(failure(kind, message), retry_after_s=retry_after_s)
    return Unreachable(found, lost=lost, final=final)


def closed() -> Unreachable:
    """Return what everybody gets who still waits, or comes, when the runtime has been closed."""
    return unreachable("cancelled", "the runtime is closed", final=True)
