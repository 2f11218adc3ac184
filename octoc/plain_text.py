"""Errors in plain words: what an exception or a server's error says, without what only a program can use.

Removed are terminal sequences, control characters, bidirectional controls and tag characters, and what pydantic adds
to its messages. Direction marks and joiners stay: ordinary text of many languages needs them.
"""

from __future__ import annotations

import os
import re
from typing import Any

from octoc.secrets import redact

MAX_WORDS = 300
_SENTENCE = 3
"""Words from which on the text of a KeyError is a sentence: a mapping's own keys seldom have as many."""
SESSION_CHARS = 4
"""How much of a session id the log has: enough to tell the sessions of one log from each other."""
# As the SDK writes them, and as a part of an address.
_SESSION_ID = re.compile(
    r"""(?ix) session(?:\ id)?:\ (?P<a>\S{5,}) | session\ (?P<b>\S{5,})(?=\ idle\ timeout|\ crashed)
    | [?&][a-z_-]{0,20}session[a-z_-]{0,20}=(?P<c>[^&\#\s]{5,})"""
)
_ANSI = (
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # a title or a link of the terminal, up to its end
    r"|[\x1b\x9b]\[?[0-?]*[ -/]*[@-~]"
)
_HIDDEN = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
_REMOVED = re.compile(rf"{_ANSI}|(?!\r\n){_HIDDEN}")
_PYDANTIC = re.compile(
    r"\s{0,20}For further information visit https://errors\.pydantic\.dev/[^\s]{0,100}"
    r"|\s{0,20}\[type=\w{1,60}, input_value=.{0,300}?, input_type=\w{1,60}\]"
)
_HEADING = re.compile(r"\d{1,9} validation errors? for \S{1,200}")


def cut_session_ids(text: str) -> str:
    """Return a log message with only the beginning of each session id in it: the whole id opens the session."""

    def cut(match: re.Match[str]) -> str:
        begin = match.start(match.lastgroup or 0)
        return f"{match.string[match.start() : begin + SESSION_CHARS]}…"

    return _SESSION_ID.sub(cut, text)


def plain(text: str) -> str:
    """Return `text` without characters that a terminal obeys or that hide text; line ends and tabs stay."""
    if text.isprintable() and text.isascii():
        return text
    return _REMOVED.sub("", text)


def plain_error(text: str) -> str:
    """Return a server's error text as `plain` does, also without addresses of pydantic and its internal values."""
    return _PYDANTIC.sub("", plain(text))


def shortened(text: str, most: int) -> str:
    """Return `text`, at most `most` characters of it, the last of which then is `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def words_of(error: BaseException) -> str:
    """Return what an exception says, on one line, without the names of classes; empty where it says nothing."""
    if type(error).__module__.partition(".")[0] in ("pydantic", "pydantic_core"):
        return _of_pydantic(error)
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower()
    said = str(error)
    if isinstance(error, KeyError):
        match error.args:
            case (str(sentence),) if len(sentence.split()) >= _SENTENCE:
                said = sentence  # `str` of a KeyError is the form of its key in Python, in quotes
            case keys:
                return f"there is no {' '.join(map(repr, keys))}" if keys else ""
    text = " ".join(_HEADING.sub("", plain_error(said)).split())
    return shortened(text, MAX_WORDS)


def because(error: BaseException, secrets: tuple[str, ...] = ()) -> str:
    """Return `: ` and what an exception says without `secrets`, to follow a message; empty where it says nothing."""
    words = redact(words_of(error), secrets) if secrets else words_of(error)
    return f": {words}" if words else ""


def _of_pydantic(error: Any) -> str:
    """Return the first thing that pydantic found wrong: where it is, and what is wrong with it."""
    try:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    except (AttributeError, IndexError, TypeError):
        return "a value has an unexpected form"
    where = "/".join(map(str, first.get("loc", ())))
    what = plain(str(first.get("msg", ""))).lower()
    return f"`{where}`: {what}" if where else what
