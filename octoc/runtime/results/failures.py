"""Wording failures for a model, in the words of each profile, and keeping secrets out of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import attrs

from octoc.results import FailureKind, ToolFailure

MASK = "***"
_SHORTEST_SECRET = 4

# Octo names the exception that Python raised; a failure here is a value, so its kind stands for one.
_EXCEPTION_OF: dict[FailureKind, str] = {
    "bad_request": "ValueError",
    "not_found": "LookupError",
    "ambiguous": "LookupError",
    "not_active": "LookupError",
    "not_ready": "RuntimeError",
    "unauthorized": "PermissionError",
    "unavailable": "RuntimeError",
    "connect_failed": "ConnectionError",
    "connection_lost": "ConnectionError",
    "timeout": "TimeoutError",
    "too_large": "ValueError",
    "protocol": "ProtocolError",
    "cancelled": "CancelledError",
    "internal": "RuntimeError",
}


def failure(
    kind: FailureKind, message: str, *, text: str | None = None, profile: str = "octo", similar: Sequence[str] = ()
) -> ToolFailure:
    """Return a failure whose text is `text`, or `message` in the words of the profile."""
    if text is None:
        text = f"[Error] {message}"
    if profile == "octopus":
        text = _octopus_text(kind, message, similar)
    return ToolFailure(kind=kind, message=message, text=text, similar=tuple(similar))


def worded(found: ToolFailure, tool: str, profile: str) -> ToolFailure:
    """Return a failure of a call, worded for the model that called `tool`."""
    if profile == "octopus":
        return attrs.evolve(found, text=_octopus_text(found.kind, found.message, found.similar))
    return attrs.evolve(found, text=f"[Tool error] {tool}: {exception_of(found)}: {found.message}")


def exception_of(found: ToolFailure) -> str:
    """Return the name of the exception that stands for a failure's kind in Octo's words."""
    return _EXCEPTION_OF[found.kind]


def _octopus_text(kind: FailureKind, message: str, similar: Sequence[str]) -> str:
    body = {"error": kind, "message": message}
    if similar:
        body["hint"] = f"Similar: {', '.join(similar)}"
    return json.dumps(body, ensure_ascii=False)


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return `text` without the values of `secrets`; the longest first, so that no end of one is left standing.

    A value under four characters is no secret worth the harm of cutting it out of every word.
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    return text
