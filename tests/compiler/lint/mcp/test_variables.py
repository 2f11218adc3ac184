"""References to variables that the same definition sets."""

from collections.abc import Callable
from typing import Any

import pytest

Lint = Callable[..., Any]


@pytest.mark.parametrize(
    "entry, marked",
    [
        ({"command": "x", "env": {"HOST": "h", "URL": "https://${HOST}/a"}}, ["${HOST}"]),
        ({"command": "x", "env": {"A": "${B}", "B": "${A}"}}, ["${B}", "${A}"]),
        ({"command": "x", "args": ["--token=${env:T}"], "env": {"T": "abc"}}, ["${env:T}"]),
    ],
)
def test_a_variable_that_the_definition_sets_itself(lint: Lint, entry: dict[str, Any], marked: list[str]) -> None:
    """The reference is marked, since clients read it from their own environment."""
    assert [text for _, text in lint(servers={"s": entry}).shown("OCT765")] == marked


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "x", "env": {"PATH": "/opt/bin:${PATH}", "TOKEN": "${TOKEN}", "GH_TOKEN": "${TOKEN}"}},
        {"command": "x", "args": ["${T}"], "env": {"T": "${env:T}"}},
        {"command": "x", "env": {"HOST": "h", "URL": "https://${HOST:-h}/a"}},
        {"command": "sh", "args": ["-c", "x --token ${T}"], "env": {"T": "abc"}},
        {"command": "npx", "args": ["mcp-remote", "https://h.example", "--header", "A:${A}"], "env": {"A": "Bearer x"}},
        {"command": "x", "args": ["${B}"], "env": {"A": "abc"}},
    ],
)
def test_a_variable_of_the_clients_environment(lint: Lint, entry: dict[str, Any]) -> None:
    """A variable that is passed on, a default, and a program that replaces references itself are not findings."""
    assert lint(servers={"s": entry}).of("OCT765") == []
