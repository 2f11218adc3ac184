"""Colour, or none: what is written reads the same without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from octoc.diagnostics.rule import Severity

Paint = Callable[[str, str], str]
"""Called with a role (`error`, `warning`, `info`, `gutter`, `bold`) and text; returns the text to write."""

_CODES: Mapping[str, str] = {"error": "1;31", "warning": "1;33", "info": "1;36", "gutter": "1;34", "bold": "1"}


def plain(role: str, text: str) -> str:
    """Return `text` without colour, whatever its role."""
    del role
    return text


def ansi(role: str, text: str) -> str:
    """Return `text` in the colour of its role, as a terminal understands it."""
    return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if text else text


def role_of(severity: Severity) -> str:
    """Return the role that a severity is painted in."""
    return severity.label
