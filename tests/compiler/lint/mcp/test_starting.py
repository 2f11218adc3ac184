"""Command lines that start no server, or one that gets no request."""

from collections.abc import Callable
from typing import Any

import pytest

Lint = Callable[..., Any]


@pytest.mark.parametrize(
    "command, args, marked",
    [
        ("docker", ["run", "--rm", "a/b"], "run"),
        ("podman", ["run", "-e", "A=-i", "-p", "1:1", "--name=x", "a/b", "-i"], "run"),
        ("cmd", ["/c", "docker", "container", "run", "a/b"], "run"),
        ("docker", ["--context", "x", "exec", "-t", "box", "server"], "exec"),
        ("npx -y some-server", [], "npx -y some-server"),
        ("pnpm dlx", ["some-server"], "pnpm dlx"),
        ("acme mcp serve", [], "acme mcp serve"),
    ],
)
def test_a_command_that_no_client_can_use(lint: Lint, command: str, args: list[str], marked: str) -> None:
    """A container without standard input and a whole line in `command` are marked."""
    assert lint(servers={"s": {"command": command, "args": args}}).shown("OCT798") == [("OCT798", f'"{marked}"')]


@pytest.mark.parametrize(
    "command, args",
    [
        ("docker", ["run", "--rm", "-i", "a/b"]),
        ("docker", ["run", "-dit", "a/b"]),
        ("docker", ["exec", "--interactive", "box", "server"]),
        ("docker", ["run", "--new-option", "a", "-i", "a/b"]),
        ("docker", ["compose", "run", "server"]),
        ("docker", ["mcp", "gateway", "run"]),
        ("bash", ["-c", "docker run a/b"]),
        ("C:/Program Files/node/npx.cmd", ["-y", "some-server"]),
        ("Acme Server", []),
        ("$HOME/acme server", []),
    ],
)
def test_a_command_that_starts_a_server(lint: Lint, command: str, args: list[str]) -> None:
    """Input of a container, options that octoc does not know, and paths with spaces are accepted."""
    assert lint(servers={"s": {"command": command, "args": args}}).of("OCT798") == []
