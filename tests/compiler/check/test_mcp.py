""".mcp.json and its dialects: one unsound server costs that server, and nothing vanishes in silence."""

from collections.abc import Callable
from typing import Any

import pytest

from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.model.documents import REMOVED
from octoc.diagnostics.rule import Severity

TRANSPORTS = "`stdio`, `http`, `streamable-http`, `streamable_http`, `streamableHttp`, `sse`, `ws` or `rest`"


def servers(entry: str) -> str:
    """Return a file with the server `entry` and a sound one."""
    return f'{{"mcpServers": {{"bad": {entry}, "good": {{"command": "x"}}}}}}'


UNSOUND: list[tuple[str, str, str, str]] = [
    ("3", "OCT203", "expected an object for `mcpServers.bad`, found a whole number", "3"),
    ("{}", "OCT225", "server `bad` has neither `command` nor `url`", "{}"),
    ('{"command": 3}', "OCT203", "expected a string for `mcpServers.bad.command`, found a whole number", "3"),
    ('{"command": " "}', "OCT207", "`mcpServers.bad.command` is empty, expected text", '" "'),
    (
        '{"command": "x", "args": "y"}',
        "OCT203",
        "expected a list of strings for `mcpServers.bad.args`, found a string",
        '"y"',
    ),
    (
        '{"command": "x", "args": [1]}',
        "OCT203",
        "expected a string for `mcpServers.bad.args[0]`, found a whole number",
        "1",
    ),
    (
        '{"command": "x", "env": {"A": true}}',
        "OCT203",
        "expected a string or a number for `mcpServers.bad.env.A`, found a boolean",
        "true",
    ),
    (
        '{"type": "http", "url": "u", "headers": ["a"]}',
        "OCT203",
        "expected an object for `mcpServers.bad.headers`, found a list",
        '["a"]',
    ),
    (
        '{"command": "x", "disabled": "yes"}',
        "OCT203",
        "expected true or false for `mcpServers.bad.disabled`, found a string",
        '"yes"',
    ),
    (
        '{"command": "x", "exclude_tools": [4]}',
        "OCT203",
        "expected a string for `mcpServers.bad.exclude_tools[0]`, found a whole number",
        "4",
    ),
    (
        '{"type": "builtin"}',
        "OCT222",
        f"`builtin` is not a `type` that Claude Code knows: expected {TRANSPORTS}",
        '"builtin"',
    ),
    ('{"type": 3}', "OCT203", f"expected {TRANSPORTS} for `mcpServers.bad.type`, found a whole number", "3"),
    ('{"type": "http"}', "OCT225", "server `bad` is `http` and has no `url`", '{"type": "http"}'),
    ('{"type": "sse"}', "OCT225", "server `bad` is `sse` and has no `url`", '{"type": "sse"}'),
    ('{"type": "stdio"}', "OCT225", "server `bad` is `stdio` and has no `command`", '{"type": "stdio"}'),
    ('{"command": "x", "url": "u"}', "OCT223", "server `bad` has both `command` and `url`", '"url"'),
    (
        '{"command": "x", "include_tools": [], "toolFilter": []}',
        "OCT227",
        "server `bad` has both `include_tools` and `toolFilter`",
        '"toolFilter"',
    ),
]


@pytest.mark.parametrize("entry,code,message,at", UNSOUND)
def test_one_bad_server_costs_only_itself(
    entry: str, code: str, message: str, at: str, check_text: Callable[..., Any]
) -> None:
    """An unsound server is reported at its place as an error and cut, and its neighbour stays."""
    outcome = check_text(MCP, servers(entry))
    assert outcome.summaries == [(code, message, at)]
    assert outcome.findings[0].diagnostic.severity is Severity.ERROR
    assert outcome.values == {"mcpServers": {"good": {"command": "x"}}}


KEPT: list[tuple[str, str, str, str, object]] = [
    (
        '{"url": "u"}',
        "OCT224",
        "server `bad` has a `url` and no `type`: Claude Code skips it",
        '"url"',
        {"url": "u"},
    ),
    (
        '{"command": "x", "timeout": 60}',
        "OCT228",
        "`timeout` is 60 milliseconds: below 1000 it is ignored",
        "60",
        {"command": "x", "timeout": 60},
    ),
    (
        '{"command": "x", "timeout": "60"}',
        "OCT203",
        "expected a number for `mcpServers.bad.timeout`, found a string",
        '"60"',
        {"command": "x"},
    ),
    (
        '{"command": "x", "timeoutMs": 0}',
        "OCT205",
        "`mcpServers.bad.timeoutMs` is 0, expected more than 0",
        "0",
        {"command": "x"},
    ),
    (
        '{"command": "x", "include_tools": [4, "a"]}',
        "OCT203",
        "expected a string for `mcpServers.bad.include_tools[0]`, found a whole number",
        "4",
        {"command": "x", "include_tools": [REMOVED, "a"]},
    ),
    (
        '{"command": "x", "exclude_tool": ["a"]}',
        "OCT208",
        "unknown field `exclude_tool` in `mcpServers.bad`",
        '"exclude_tool"',
        {"command": "x", "exclude_tool": ["a"]},
    ),
    (
        '{"type": "http", "url": "u", "headersHelper": "sh"}',
        "OCT209",
        "octoc does not run `headersHelper`",
        '"headersHelper"',
        {"type": "http", "url": "u", "headersHelper": "sh"},
    ),
    (
        '{"command": "x", "env": {"N": 3}}',
        "OCT229",
        "variable `N` is a number, which Claude Code refuses",
        "3",
        {"command": "x", "env": {"N": 3}},
    ),
]


@pytest.mark.parametrize("entry,code,message,at,left", KEPT)
def test_a_harmless_mistake_keeps_the_server(
    entry: str, code: str, message: str, at: str, left: object, check_text: Callable[..., Any]
) -> None:
    """A mistake that widens nothing costs at most its own value."""
    outcome = check_text(MCP, servers(entry))
    assert outcome.summaries == [(code, message, at)]
    assert outcome.values["mcpServers"]["bad"] == left


FILES: list[tuple[str, str, str, str, Severity, str]] = [
    (
        "claude",
        '{"mcpServers": {}, "servers": {}}',
        "OCT220",
        '"servers"',
        Severity.ERROR,
        "keep `servers` in VS Code's",
    ),
    (
        "vscode",
        '{"mcpServers": {}, "servers": {}}',
        "OCT220",
        '"servers"',
        Severity.ERROR,
        "keep `servers` in VS Code's",
    ),
    ("claude", '{"servers": {}}', "OCT221", '"servers"', Severity.WARNING, "rename it to `mcpServers`"),
    ("cursor", '{"servers": {}}', "OCT221", '"servers"', Severity.WARNING, "rename it to `mcpServers`"),
    ("vscode", '{"mcpServers": {}}', "OCT221", '"mcpServers"', Severity.WARNING, "rename it to `servers`"),
    ("claude", "{}", "OCT202", "", Severity.WARNING, "add `mcpServers`"),
    ("vscode", '{"inputs": []}', "OCT202", "", Severity.WARNING, "add `servers`"),
    ("claude", '{"mcpServers": []}', "OCT203", "[]", Severity.ERROR, ""),
    ("claude", '{"mcpServers": {"a:b": {"command": "x"}}}', "OCT206", '"a:b"', Severity.ERROR, ""),
    ("claude", '{"mcpServers": {"a:b": {"command": "x"}}}', "OCT206", '"a:b"', Severity.ERROR, ""),
    ("claude", '{"mcpServers": {"": {"command": "x"}}}', "OCT207", '""', Severity.ERROR, ""),
    ("claude", '{"mcpServers": {}, "xyz": 1}', "OCT208", '"xyz"', Severity.INFO, ""),
    ("vscode", '{"servers": {}, "inputs": [{"id": "a"}]}', "OCT202", '{"id": "a"}', Severity.ERROR, "add `type`"),
]


@pytest.mark.parametrize("dialect,text,code,at,severity,help_start", FILES)
def test_the_file_s_own_keys_are_checked(
    dialect: str, text: str, code: str, at: str, severity: Severity, help_start: str, check_text: Callable[..., Any]
) -> None:
    """Each client's own keys are checked: both lists, another client's list, no list, unknown names."""
    (finding,) = check_text(MCP, text, dialect).findings
    assert (finding.code, finding.at, finding.diagnostic.severity) == (code, at, severity)
    assert (finding.diagnostic.help or "").startswith(help_start)


def test_both_lists_leave_nothing(check_text: Callable[..., Any]) -> None:
    """A file with both lists gives no server, since each client would see others."""
    assert check_text(MCP, '{"mcpServers": {}, "servers": {}}').values is None


def test_a_misspelt_list_is_an_error_with_its_name(check_text: Callable[..., Any]) -> None:
    """A file whose list is misspelt says how it is spelt."""
    first = check_text(MCP, '{"mcpservers": {}}').findings[0].diagnostic
    assert (first.message, first.severity) == ("the file has no `mcpServers`", Severity.ERROR)
    assert first.help == "rename `mcpservers` to `mcpServers`"


@pytest.mark.parametrize("dialect", ["claude", "claude-desktop", "cursor"])
@pytest.mark.parametrize(
    "written", ["http", "streamable-http", "streamable_http", "streamableHttp", "sse", "ws", "rest"]
)
def test_every_spelling_of_a_transport_is_accepted(dialect: str, written: str, check_text: Callable[..., Any]) -> None:
    """Each client's spelling of a transport is sound in a client's file, where no schema of the client's marks it."""
    text = f'{{"mcpServers": {{"a": {{"type": "{written}", "url": "https://x"}}}}}}'
    assert check_text(MCP, text, dialect).codes == []


def test_cursor_needs_no_type(check_text: Callable[..., Any]) -> None:
    """A `url` without `type` is usual in Cursor's files, and not reported there."""
    assert check_text(MCP, '{"mcpServers": {"a": {"url": "https://x"}}}', "cursor").codes == []


def test_vs_code_writes_where_a_server_is_from(check_text: Callable[..., Any]) -> None:
    """What VS Code adds to a server that it installed from a registry is known."""
    fields = '"type": "http", "url": "https://x", "gallery": "https://api.mcp.github.com", "version": "1.0.0"'
    assert check_text(MCP, f'{{"servers": {{"a": {{{fields}}}}}}}', "vscode").codes == []


def test_vs_code_may_have_numbers_and_nulls_in_env(check_text: Callable[..., Any]) -> None:
    """VS Code allows numbers and null in `env`, so its files are not reported for them."""
    text = '{"servers": {"a": {"command": "x", "env": {"N": 3, "M": null}}}}'
    assert check_text(MCP, text, "vscode").codes == []


def test_no_value_of_env_or_headers_is_printed(check_text: Callable[..., Any]) -> None:
    """What is reported about a server never holds the values of its variables or headers."""
    text = '{"mcpServers": {"a": {"command": "x", "env": {"KEY": ["hunter2"]}}, "b": {"headers": "hunter2"}}}'
    outcome = check_text(MCP, text)
    assert outcome.codes == ["OCT203", "OCT203"]
    assert "hunter2" not in "".join(str(finding.diagnostic) for finding in outcome.findings)
