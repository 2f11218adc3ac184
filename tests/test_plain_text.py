"""What errors say in plain words: no hidden characters, no class names, nothing of pydantic."""

from __future__ import annotations

import errno

import pytest
from pydantic import BaseModel, ValidationError

from octoc.plain_text import because, cut_session_ids, plain, plain_error, words_of


class Point(BaseModel):
    """A model whose validation fails with pydantic's usual text."""

    x: int


def _invalid() -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Point.model_validate({"x": "three"})
    return caught.value


@pytest.mark.parametrize(
    "text, shown",
    [
        ("plain, ünïcode 日本語\n\tand lines\r\n", "plain, ünïcode 日本語\n\tand lines\r\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b1mbold", "bold"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x00b\x08c\rd", "abcd"),
        ("user\u202eexe.txt\u2066x\u2069", "userexe.txtx"),
        ("hi\U000e0068\U000e0069", "hi"),
        ("שלום\u200f mixed \u200d", "שלום\u200f mixed \u200d"),
    ],
)
def test_hidden_characters_are_removed(text: str, shown: str) -> None:
    """Terminal sequences, controls, bidirectional controls and tags go; ordinary text, marks and joiners stay."""
    assert plain(text) == shown


@pytest.mark.parametrize(
    "text, shown",
    [
        ("Received session ID: 0123456789abcdef", "Received session ID: 0123…"),
        ("Terminating session: 0123456789abcdef", "Terminating session: 0123…"),
        ("Session 0123456789abcdef idle timeout", "Session 0123… idle timeout"),
        (
            "POST http://h/messages/?a=b&session_id=0123456789abcdef&c=d",
            "POST http://h/messages/?a=b&session_id=0123…&c=d",
        ),
        ("Session termination failed: 404", "Session termination failed: 404"),
        ("StreamableHTTP session manager started", "StreamableHTTP session manager started"),
    ],
)
def test_session_ids_are_cut(text: str, shown: str) -> None:
    """A log message of the SDK, or an address, shows the beginning of a session id; other words stay."""
    assert cut_session_ids(text) == shown


def test_pydantic_is_not_quoted() -> None:
    """Neither its own exception nor a server's copy of its text brings a library's address or a type's name."""
    error = _invalid()
    assert "errors.pydantic.dev" in str(error)
    assert words_of(error) == "`x`: input should be a valid integer, unable to parse string as an integer"
    copied = plain_error(f"Error executing tool add: {error}")
    assert "pydantic" not in copied
    assert "input_type" not in copied
    assert "valid integer" in copied


@pytest.mark.parametrize(
    "error, said",
    [
        (ValueError("no luck"), "no luck"),
        (KeyError("a"), "there is no 'a'"),
        (KeyError("New York"), "there is no 'New York'"),
        (KeyError("No time zone found with key Mars/Base"), "No time zone found with key Mars/Base"),
        (RuntimeError(), ""),
        (OSError(errno.ECONNREFUSED, "odd"), "connection refused"),
        (ValueError("two\nlines\x1b[0m"), "two lines"),
    ],
)
def test_an_exception_in_words(error: Exception, said: str) -> None:
    """What an exception says stands on one line, without the name of its class."""
    assert words_of(error) == said
    assert because(error) == (f": {said}" if said else "")


def test_secrets_are_cut_out_of_an_exception() -> None:
    """The values that are given do not show."""
    assert because(ValueError("token hunter22 refused"), ("hunter22",)) == ": token *** refused"


@pytest.mark.parametrize(
    "text", ["[type=a, input_value=" * 20_000, " " * 200_000, "\x1b]" * 100_000, "1 validation " * 9]
)
def test_cleaning_takes_linear_time(text: str) -> None:
    """Texts that repeat the beginning of what is removed end, too."""
    assert len(plain_error(text)) <= len(text)
