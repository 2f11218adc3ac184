"""Texts and limits of Octo's built-in tools.

Source: Octo 0.9.22, octo/core/tools/filesystem.py and shell.py. The texts stay byte for byte.
"""

from __future__ import annotations

MAX_LINES = 2000
MAX_CHARS = 50_000
MAX_FOUND = 500
MAX_MATCHES = 200
TRUNCATED = "\n... (truncated)"


def cut(text: str) -> str:
    """Return at most MAX_CHARS characters of a result, with a notice if it is longer."""
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + TRUNCATED


class ToolError(Exception):
    """A call that failed; the message is the whole text for the model."""
