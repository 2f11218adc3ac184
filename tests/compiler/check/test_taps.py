"""Files of a tap, front matter and snapshots: the smallest entity that is unusable goes, and widens nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from octoc.compiler.inputs.agents.manifest import AGENT_MANIFEST
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.capability import CAPABILITY_CONFIG, CAPABILITY_PROVIDER
from octoc.compiler.inputs.skill import SKILL
from octoc.compiler.inputs.snapshot import SNAPSHOT
from octoc.compiler.model.documents import REMOVED
from octoc.diagnostics.rule import Severity
from octoc.plugin.file_kinds import FileKind

CONFIG, PROVIDER, MANIFEST, AGENT = CAPABILITY_CONFIG, CAPABILITY_PROVIDER, AGENT_MANIFEST, AGENT_MD

STDIO = 'name = "ok"\ntype = "stdio"\ncommand = "x"\nargs = []\ntimeout_seconds = 30\ntools = []\n'


def server(text: str) -> str:
    """Return a block of a tap's TOML."""
    return f"[[mcp.servers]]\n{text}\n"


def front(text: str) -> str:
    """Return a Markdown file with this front matter."""
    return f"---\n{text}\n---\nBody\n"


AGENT_OK = "name: reviewer\ndescription: Reviews.\n"
SKILL_OK = "name: commit-messages\ndescription: d\n"
SNAPSHOT_OK = '"server": "time", "definition": "0f"'

# (kind, text, code, message, text at the place)
WHOLE_FILE: list[tuple[FileKind, str, str, str, str]] = [
    (CONFIG, 'domains = ["x"]', "OCT202", "the file has no `triggers`", ""),
    (CONFIG, "triggers = []", "OCT207", "`triggers` is empty, expected at least 1 element", "[]"),
    (CONFIG, "triggers = 'a'", "OCT203", "expected a list of strings for `triggers`, found a string", "'a'"),
    # An empty list of domains is every domain, so an unsound one must not leave it empty.
    (
        CONFIG,
        "triggers = ['a']\ndomains = [3]",
        "OCT203",
        "expected a string for `domains[0]`, found a whole number",
        "3",
    ),
    # An empty list of tools is every tool.
    (
        PROVIDER,
        "[roles.mcp]\nallowed_tools = [3]",
        "OCT203",
        "expected a string for `roles.mcp.allowed_tools[0]`, found a whole number",
        "3",
    ),
    (PROVIDER, "deps = 3", "OCT203", "expected a table for `deps`, found a whole number", "3"),
    (MANIFEST, "capabilities = []", "OCT202", "the file has no `roles`", ""),
    (MANIFEST, "roles = []", "OCT207", "`roles` is empty, expected at least 1 element", "[]"),
    (
        MANIFEST,
        "[[roles]]\nsystem = 3",
        "OCT203",
        "expected a string for `roles[0].system`, found a whole number",
        "3",
    ),
    (
        MANIFEST,
        "[[roles]]\nmcp.allowed_tools = [3]",
        "OCT203",
        "expected a string for `roles[0].mcp.allowed_tools[0]`, found a whole number",
        "3",
    ),
    (AGENT, front("name: reviewer"), "OCT202", "the file has no `description`", ""),
    (AGENT, front("name: reviewer\ndescription: ' '"), "OCT207", "`description` is empty, expected text", "' '"),
    (
        AGENT,
        front("name: reviewer\ndescription: 3"),
        "OCT203",
        "expected a string for `description`, found a whole number",
        "3",
    ),
    (
        AGENT,
        front("name: a:b\ndescription: x"),
        "OCT206",
        "`a:b` is not a valid name: expected a name without `:`, which belongs to `<domain>:<spec>`",
        "a:b",
    ),
    # Absent `tools` would be every tool, so a key without a value must not become absent.
    (
        AGENT,
        front(AGENT_OK + "tools:"),
        "OCT203",
        "expected a list of strings or a comma-separated string for `tools`, found no value",
        "tools",
    ),
    (
        AGENT,
        front(AGENT_OK + "disallowedTools: [Bash, 3]"),
        "OCT203",
        "expected a string for `disallowedTools[1]`, found a whole number",
        "3",
    ),
    (SKILL, front("name: commit-messages"), "OCT202", "the skill has no `description`: Octomind skips it", ""),
    (SKILL, front("description: d"), "OCT202", "the skill has no `name`: Octomind skips it", ""),
    (
        SKILL,
        front("name: Commit Messages\ndescription: d"),
        "OCT206",
        (
            "`Commit Messages` is not a valid name: expected letters, digits, `-`, `_` and `.`,"
            " starting with a letter or a digit"
        ),
        "Commit Messages",
    ),
    (SNAPSHOT, f"{{{SNAPSHOT_OK}}}", "OCT202", "the file has no `tools`", ""),
    (SNAPSHOT, f'{{{SNAPSHOT_OK}, "tools": {{}}}}', "OCT203", "expected a list for `tools`, found an object", "{}"),
]


@pytest.mark.parametrize("kind,text,code,message,at", WHOLE_FILE)
def test_a_mistake_that_leaves_nothing_usable(
    kind: FileKind, text: str, code: str, message: str, at: str, check_text: Callable[..., Any]
) -> None:
    """A mistake without which a file would say something else takes the file with it, as one error."""
    outcome = check_text(kind, text)
    assert outcome.summaries == [(code, message, at)]
    assert outcome.findings[0].diagnostic.severity is Severity.ERROR
    assert outcome.values is None


PART: list[tuple[FileKind, str, str, str, str, dict[str, Any]]] = [
    (
        CONFIG,
        "triggers = ['a', 3, 'b']",
        "OCT203",
        "expected a string for `triggers[1]`, found a whole number",
        "3",
        {"triggers": ["a", REMOVED, "b"]},
    ),
    (
        CONFIG,
        "triggers = ['a', ' ']",
        "OCT207",
        "`triggers[1]` is empty, expected text",
        "' '",
        {"triggers": ["a", REMOVED]},
    ),
    (
        PROVIDER,
        server("type = 'stdio'\ncommand = 'x'"),
        "OCT202",
        "`mcp.servers[0]` has no `name`",
        "[[mcp.servers]]",
        {"mcp": {"servers": [REMOVED]}},
    ),
    (
        PROVIDER,
        server("name = 'a'\ntype = 'sse'\nurl = 'u'"),
        "OCT222",
        "`sse` is not a `type` that octoc knows: expected `stdio`, `http`, `rest` or `builtin`",
        "'sse'",
        {"mcp": {"servers": [REMOVED]}},
    ),
    (
        PROVIDER,
        server("name = 'a'\ntype = 'http'\ncommand = 'x'"),
        "OCT225",
        "server `a` is `http` and has no `url`",
        "[[mcp.servers]]",
        {"mcp": {"servers": [REMOVED]}},
    ),
    # An empty list of tools is every tool, so the server goes with its unsound element.
    (
        PROVIDER,
        server("name = 'a'\ntype = 'builtin'\ntimeout_seconds = 1\ntools = [3]"),
        "OCT203",
        "expected a string for `mcp.servers[0].tools[0]`, found a whole number",
        "3",
        {"mcp": {"servers": [REMOVED]}},
    ),
    (
        PROVIDER,
        server("name = 'a'\ntype = 'builtin'\ntimeout_seconds = 0\ntools = []"),
        "OCT205",
        "`mcp.servers[0].timeout_seconds` is 0, expected at least 1 and at most 3600",
        "0",
        {"mcp": {"servers": [{"name": "a", "type": "builtin", "tools": []}]}},
    ),
    (
        PROVIDER,
        "[roles.mcp]\nserver_refs = [3, 'a']",
        "OCT203",
        "expected a string for `roles.mcp.server_refs[0]`, found a whole number",
        "3",
        {"roles": {"mcp": {"server_refs": [REMOVED, "a"]}}},
    ),
    (
        MANIFEST,
        "capabilities = [3, 'core']\n[[roles]]",
        "OCT203",
        "expected a string for `capabilities[0]`, found a whole number",
        "3",
        {"capabilities": [REMOVED, "core"], "roles": [{}]},
    ),
    (
        MANIFEST,
        "[[roles]]\ntemperature = 3",
        "OCT205",
        "`roles[0].temperature` is 3, expected at least 0 and at most 2",
        "3",
        {"roles": [{}]},
    ),
    (
        AGENT,
        front(AGENT_OK + "tools: [Read, 3]"),
        "OCT203",
        "expected a string for `tools[1]`, found a whole number",
        "3",
        {"name": "reviewer", "description": "Reviews.", "tools": ["Read", REMOVED]},
    ),
    (
        AGENT,
        front(AGENT_OK + "mcpServers:\n  - docs:\n      type: ftp\n  - github"),
        "OCT222",
        (
            "`ftp` is not a `type` that octoc knows: expected `stdio`, `http`, `streamable-http`, `streamable_http`,"
            " `streamableHttp`, `sse`, `ws` or `rest`"
        ),
        "ftp",
        {"name": "reviewer", "description": "Reviews.", "mcpServers": [{}, "github"]},
    ),
    (
        AGENT,
        front(AGENT_OK + "color: 3"),
        "OCT203",
        "expected a string for `color`, found a whole number",
        "3",
        {"name": "reviewer", "description": "Reviews."},
    ),
    (
        SKILL,
        front(SKILL_OK + "rules: [3]"),
        "OCT203",
        "expected a string for `rules[0]`, found a whole number",
        "3",
        {"name": "commit-messages", "description": "d", "rules": [REMOVED]},
    ),
    (
        SNAPSHOT,
        f'{{{SNAPSHOT_OK}, "tools": [{{}}, {{"name": "a"}}]}}',
        "OCT202",
        "`tools[0]` has no `name`",
        "{}",
        {"server": "time", "definition": "0f", "tools": [REMOVED, {"name": "a"}]},
    ),
    (
        SNAPSHOT,
        f'{{{SNAPSHOT_OK}, "tools": [{{"name": "a"}}, {{"name": "a"}}]}}',
        "OCT210",
        "tool `a` is listed twice",
        '"a"',
        {"server": "time", "definition": "0f", "tools": [{"name": "a"}, REMOVED]},
    ),
]


@pytest.mark.parametrize("kind,text,code,message,at,left", PART)
def test_a_mistake_that_costs_a_part(
    kind: FileKind, text: str, code: str, message: str, at: str, left: dict[str, Any], check_text: Callable[..., Any]
) -> None:
    """A mistake in a part is one error at its place, and the other parts stay where they were."""
    outcome = check_text(kind, text)
    assert outcome.summaries == [(code, message, at)]
    assert outcome.findings[0].diagnostic.severity is Severity.ERROR
    assert outcome.values == left


REMARKS: list[tuple[FileKind, str, str, str, str, Severity]] = [
    (CONFIG, "triggers = ['a']\ndomain = ['x']", "OCT208", "unknown field `domain`", "domain", Severity.WARNING),
    (
        PROVIDER,
        "[roles.mcp]\nserver_ref = []",
        "OCT208",
        "unknown field `server_ref` in `roles.mcp`",
        "server_ref",
        Severity.WARNING,
    ),
    (
        PROVIDER,
        server("name = 'a'\ntype = 'stdio'\ncommand = 'x'"),
        "OCT226",
        "server `a` has no `args`, `timeout_seconds`, `tools`: Octomind skips such a block",
        "[[mcp.servers]]",
        Severity.WARNING,
    ),
    (
        PROVIDER,
        server(STDIO + "auto_bind = ['x']"),
        "OCT209",
        "octoc does not bind a server by `auto_bind`",
        "auto_bind",
        Severity.WARNING,
    ),
    (
        MANIFEST,
        "[[roles]]\n[[roles]]\nsystem = 'x'",
        "OCT243",
        "the manifest has 2 roles: only the first is used",
        "[[roles]]",
        Severity.WARNING,
    ),
    (
        AGENT,
        front(AGENT_OK + "type: deep-research"),
        "OCT204",
        (
            "unknown agent type `deep-research`, so the agent is a worker:"
            " expected `supervisor`, `worker`, `deep_research` or `project`"
        ),
        "deep-research",
        Severity.WARNING,
    ),
    (AGENT, front(AGENT_OK + "modle: x"), "OCT208", "unknown field `modle`", "modle", Severity.WARNING),
    (AGENT, front(AGENT_OK + "version: 2"), "OCT208", "unknown field `version`", "version", Severity.INFO),
    (
        AGENT,
        front("description: x"),
        "OCT241",
        "the agent has no `name`: its path makes it `reviewer`",
        "",
        Severity.WARNING,
    ),
    (
        AGENT,
        front("name: Code Reviewer\ndescription: x"),
        "OCT242",
        "agent name `Code Reviewer` is one that some clients refuse: expected lower-case letters, digits and `-`",
        "Code Reviewer",
        Severity.WARNING,
    ),
    (
        SKILL,
        front("name: commits\ndescription: d"),
        "OCT244",
        "skill `commits` is in folder `commit-messages`: Octomind never activates it",
        "commits",
        Severity.WARNING,
    ),
    (
        SNAPSHOT,
        '{"server": "clock", "definition": "0f", "tools": []}',
        "OCT245",
        "the snapshot is of server `clock`, its file name says `time`",
        '"clock"',
        Severity.WARNING,
    ),
]


@pytest.mark.parametrize("kind,text,code,message,at,severity", REMARKS)
def test_a_remark_cuts_nothing(
    kind: FileKind, text: str, code: str, message: str, at: str, severity: Severity, check_text: Callable[..., Any]
) -> None:
    """What is only remarkable is reported at its place, below error, and everything stays."""
    outcome = check_text(kind, text)
    assert outcome.summaries == [(code, message, at)]
    assert outcome.findings[0].diagnostic.severity is severity
    assert "REMOVED" not in repr(outcome.values)


def test_two_servers_of_one_name_in_one_file(check_text: Callable[..., Any]) -> None:
    """The second server of one name in a file is an error that points at both, and the first stays."""
    outcome = check_text(PROVIDER, server(STDIO) + server(STDIO))
    (finding,) = outcome.findings
    assert finding.summary == ("OCT210", "server `ok` is defined twice in this file", '"ok"')
    assert [label.text for label in finding.diagnostic.related] == ["the first is here"]
    assert outcome.values["mcp"]["servers"][1] is REMOVED


def test_markdown_without_a_name_is_documentation_for_claude(check_text: Callable[..., Any]) -> None:
    """A file without a name among Claude Code's agents is skipped with one remark, whatever else it lacks."""
    outcome = check_text(AGENT, front("title: 3"), "claude")
    assert outcome.codes == ["OCT240"]
    assert outcome.findings[0].diagnostic.severity is Severity.INFO
    assert outcome.values is None


def test_keys_that_are_the_author_s_own(check_text: Callable[..., Any]) -> None:
    """Keys that start with `x-` or `_` are accepted."""
    assert check_text(AGENT, front(AGENT_OK + "x-team: core\n_note: hi")).codes == []


def test_every_mistake_of_a_file_is_reported_in_one_run(check_text: Callable[..., Any]) -> None:
    """One unsound server hides no other, and the order is that of the file."""
    text = server("type = 'stdio'") + server("name = 'b'\ntype = 'htp'") + server(STDIO)
    outcome = check_text(PROVIDER, text)
    assert outcome.codes == ["OCT202", "OCT222"]
    assert [element is REMOVED for element in outcome.values["mcp"]["servers"]] == [True, True, False]
