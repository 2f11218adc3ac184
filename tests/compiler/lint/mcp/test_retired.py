"""Packages that are archived, renamed, withdrawn, removed or were never published."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from octoc.compiler.lint.mcp.retired import retired_packages
from octoc.diagnostics.rule import Severity

Lint = Callable[..., Any]
ERROR, WARNING = Severity.ERROR, Severity.WARNING


@pytest.mark.parametrize(
    "command, args, severity, says",
    [
        ("npx", ["-y", "@modelcontextprotocol/server-github"], WARNING, "is archived"),
        ("npx", ["-y", "@modelcontextprotocol/server-postgres@0.6.2", "x"], WARNING, "is archived"),
        ("cmd", ["/c", "npx", "-y", "@modelcontextprotocol/server-slack"], WARNING, "is archived"),
        ("uvx", ["awslabs.aws-api-mcp-server@latest"], WARNING, "is deprecated"),
        ("uvx", ["awslabs.terraform-mcp-server@latest"], ERROR, "cannot be installed"),
        ("uvx", ["awslabs.terraform-mcp-server==1.0.18"], WARNING, "has only yanked releases on PyPI"),
        ("uvx", ["blender_mcp"], WARNING, "has a new name"),
        ("npx", ["@modelcontextprotocol/server-fetch"], ERROR, "is not on npm"),
        ("npx", ["@modelcontextprotocol/server-notion"], ERROR, "is not on npm"),
        ("npx", ["@modelcontextprotocol/server-filesytem"], WARNING, "was not on npm"),
        ("bunx", ["postmark-mcp@1.0.16"], ERROR, "was removed from npm as malware"),
        ("npx", ["-y", "mcp-server-time"], ERROR, "is not on npm"),
        ("npx", ["-y", "awslabs.ecs-mcp-server@latest"], WARNING, "was not on npm"),
        ("uvx", ["chrome-devtools-mcp"], ERROR, "is not on PyPI"),
        ("pixi", ["run", "bun", "x", "--bun", "@playwright/mcp-server"], ERROR, "is not on npm"),
        ("uv", ["run", "npx", "-y", "@supabase/mcp-server@latest"], ERROR, "is not on npm"),
    ],
)
def test_a_retired_package(lint: Lint, command: str, args: list[str], severity: Severity, says: str) -> None:
    """It is reported where the command line names it, with the day and the source."""
    linted = lint(servers={"s": {"command": command, "args": args}})
    (found,) = linted.of("OCT763")
    assert found.severity == severity
    assert says in found.message
    assert found.notes[0].startswith("seen on 2026-")
    other = found.related[0].span if found.related else None
    assert linted.text_at(other or found.span) == found.subject
    assert (other is None) or linted.text_at(found.span) == f'"{command}"'


@pytest.mark.parametrize(
    "command, name, severity, advice",
    [
        ("npx", "@upstash/contex7-mcp", WARNING, "did you mean `@upstash/context7-mcp`?"),
        ("npx", "@playwright/mcpp", WARNING, "did you mean `@playwright/mcp`?"),
        ("uvx", "@playwright/mcp", ERROR, "use `npx -y @playwright/mcp`"),
    ],
)
def test_a_name_that_is_surely_wrong(lint: Lint, command: str, name: str, severity: Severity, advice: str) -> None:
    """A slip within a publisher's own scope and a scope given to a runner of PyPI are found without a list of them."""
    linted = lint(servers={"s": {"command": command, "args": ["-q", f"{name}@latest"]}})
    (found,) = linted.of("OCT763")
    at = found.related[0].span if found.related else found.span
    assert (found.severity, found.help, linted.text_at(at)) == (severity, advice, name)


@pytest.mark.parametrize(
    "command, args, advice",
    [
        ("npx", ["-y", "acme-notes==1.2.0"], "use `uvx acme-notes==1.2.0`"),
        ("cmd", ["/c", "uvx", "@acme/notes"], "use `npx -y @acme/notes`"),
        ("env", ["A=b", "bunx", "acme-notes==1.2.0"], "use `uvx acme-notes==1.2.0`"),
    ],
)
def test_a_form_of_the_other_registry(lint: Lint, command: str, args: list[str], advice: str) -> None:
    """A version as pip writes it, and a scope, tell the registry of a package that no list has."""
    (found,) = lint(servers={"s": {"command": command, "args": args}}).of("OCT763")
    assert (found.severity, found.help) == (ERROR, advice)


@pytest.mark.parametrize(
    "command, args",
    [
        ("npx", ["-y", "@playwright/test"]),
        ("npx", ["-y", "@modelcontextprotocol/server-filesystem", "."]),
        ("uvx", ["mcp-server-fetch"]),
        ("npx", ["mcp-server-sqlite"]),
        ("npx", ["@modelcontextprotocol/inspector"]),
        ("uvx", ["postmark-mcp"]),
    ],
)
def test_a_maintained_package(lint: Lint, command: str, args: list[str]) -> None:
    """Packages outside the list, and those with the same name on another registry, are not findings."""
    assert lint(servers={"s": {"command": command, "args": args}}).of("OCT763") == []


def test_the_list_has_a_source_and_a_day_for_each_package() -> None:
    """Each of at least 40 entries says what, where and when, and PyPI's names are normalized."""
    listed = retired_packages()
    assert len(listed) >= 40
    for (registry, name), entry in listed.items():
        assert entry.url
        assert isinstance(entry.seen, dt.date)
        assert entry.state in {"archived", "deprecated", "renamed", "missing", "other", "withdrawn", "malicious"}
        assert registry != "pypi" or name == name.lower().replace("_", "-").replace(".", "-")
