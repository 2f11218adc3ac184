"""Figures with their units, as words."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is one."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def duration(seconds: float) -> str:
    """Return a duration with two or three digits."""
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.0095 else f"{1000 * seconds:.1f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:,.0f} s"


def thousands(number: int) -> str:
    """Return a number with its thousands marked."""
    return f"{number:,}"


def percent(share: float) -> str:
    """Return a share, limited to 0 to 1, as a percentage."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"
