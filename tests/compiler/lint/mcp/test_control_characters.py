"""Control characters in definitions of servers: errors where nothing starts, warnings elsewhere."""

from collections.abc import Callable
from typing import Any

import pytest

from octoc.diagnostics.rule import Severity

Lint = Callable[..., Any]
ERROR, WARNING = Severity.ERROR, Severity.WARNING
HTTP = {"type": "http", "url": "https://h.example"}


@pytest.mark.parametrize(
    "entry, severity, says, marked",
    [
        ({"command": "a\0b"}, ERROR, "`command` of server `s` contains U+0000 NUL: no program", "\\u0000"),
        ({"command": "x", "args": ["ok", "a\0"]}, ERROR, "`args[1]`", "\\u0000"),
        ({"command": "x", "env": {"A": "\0"}}, ERROR, "`env.A`", "\\u0000"),
        ({"command": "x", "env": {"A\0": "b"}}, ERROR, "a name in `env`", None),
        ({"command": "x", "args": ["a\x1b[0m"]}, WARNING, "U+001B", "\\u001b"),
        ({"command": "a\nb"}, WARNING, "LINE FEED", "\\n"),
        ({**HTTP, "headers": {"X": "a\nb"}}, ERROR, "no client sends such a header", "\\n"),
        ({**HTTP, "headers": {"X\r": "a"}}, ERROR, "a name in `headers`", None),
        ({**HTTP, "headers": {"X": "a\x07b"}}, WARNING, "`headers.X`", "\\u0007"),
        ({**HTTP, "url": "https://h.example/\x08a"}, WARNING, "BACKSPACE", "\\b"),
    ],
)
def test_a_control_character(
    lint: Lint, entry: dict[str, Any], severity: Severity, says: str, marked: str | None
) -> None:
    """It is reported at its own place, as an error only where the server cannot be used."""
    linted = lint(servers={"s": entry})
    (found,) = linted.of("OCT760")
    assert found.severity == severity
    assert says in found.message
    assert marked is None or linted.text_at(found.span) == marked


def test_single_backslashes_of_a_windows_path(lint: Lint) -> None:
    """JSON reads the escape of a tab in a path as a tab, and the help says so."""
    linted = lint({".mcp.json": r'{"mcpServers": {"s": {"command": "x", "args": ["C:\temp\new", "-v"]}}}'})
    (found,) = linted.of("OCT760")
    assert linted.text_at(found.span) == r"\t"
    assert found.help == "write each backslash of the path twice"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "x", "args": ["line\n\tline\n", "key: a\tb"], "env": {"KEY": "-----BEGIN\nabc\n", "P": "a\tb"}},
        {"command": "x\n", "args": [r"C:\temp\new", "é\u00a0"]},
        {**HTTP, "headers": {"X": "a\tb"}},
        {"command": "a\0b", "disabled": True},
    ],
)
def test_what_may_be_meant(lint: Lint, entry: dict[str, Any]) -> None:
    """White space in arguments and variables, at the end of a value, and a disabled server have no finding."""
    assert lint(servers={"s": entry}).of("OCT760") == []
