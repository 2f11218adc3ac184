"""Regular expressions that untrusted files bring: google-re2 searches in linear time, so no text makes it hang."""

from __future__ import annotations

from typing import Any


class RegexError(ValueError):
    """An expression that google-re2 does not accept; the message is its own."""


def compile_regex(expression: str, max_bytes: int | None = None) -> Any:
    """Return a compiled expression with the methods of `re.Pattern`. Raises: RegexError.

    Args:
        max_bytes: the memory that the expression may take; None for google-re2's own limit.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    if max_bytes is not None:
        options.max_mem = max_bytes
    try:
        return re2.compile(expression, options)
    except UnicodeEncodeError:
        raise RegexError("half a surrogate pair is not text") from None
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        raise RegexError(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from None
