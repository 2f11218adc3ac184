"""Which failed calls may be repeated, and when. A tool's own error is an answer, so its call is never repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from octoc.results import FailureKind, ToolFailure

MAX_REPEATS = 2
_FIRST_S = 0.1
_RECONNECT_S = 0.5
_MAX_RECONNECT_S = 30.0
_IN_TRANSPORT: frozenset[FailureKind] = frozenset(
    {"connect_failed", "connection_lost", "timeout", "protocol", "unavailable"}
)


def is_harmless(wire: Mapping[str, Any]) -> bool:
    """Return whether a tool's annotations state that two calls have the effect of one."""
    annotations = wire.get("annotations")
    if not isinstance(annotations, Mapping):
        return False
    return annotations.get("readOnlyHint") is True or annotations.get("idempotentHint") is True


def may_repeat(failure: ToolFailure, mode: str, *, harmless: bool) -> bool:
    """Return whether a call with this failure may be sent again.

    Args:
        mode: `safe`, `always` or `never`.
        harmless: a trusted server states that the tool is read-only or idempotent.
    """
    if mode == "never" or failure.kind not in _IN_TRANSPORT:
        return False
    return mode == "always" or not failure.sent or harmless


def pause_before(repeat: int, failure: ToolFailure) -> float:
    """Return the seconds to wait before repetition number `repeat`, from 1; at least the server's own wait."""
    import random  # loads OpenSSL

    # Random, so that calls which failed together are not repeated together.
    own = _FIRST_S * 2.0 ** (repeat - 1) * random.uniform(0.5, 1.5)  # noqa: S311  # no secret depends on it
    return max(own, failure.retry_after_s or 0.0)


def reconnect_pause(failures: int) -> float:
    """Return the seconds between two attempts to connect after `failures` in a row: 0, then 0.5, 1, 2 … 30."""
    if failures <= 1:
        return 0.0
    return float(min(_RECONNECT_S * 2.0 ** min(failures - 2, 16), _MAX_RECONNECT_S))
