"""Agents in Markdown: what clients read differently or only in part, and names of tools without their server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.lint.agents.fields import MAX_DESCRIPTION, shown_length
from octoc.diagnostics.rule import Severity
from octoc.testing import WorkspaceBuilder

Lint = Callable[..., Any]
Listed = Callable[..., None]


@pytest.fixture
def listed(tmp_path: Path) -> Listed:
    """A function that puts servers with recorded tools into the workspace: `log` is on git, `both` on git and diary."""
    tools = {"git": ["log", "both", "list_file", "list_fill"], "diary": ["add_entry", "both"]}

    def write(*servers: str) -> None:
        builder = WorkspaceBuilder(tmp_path)
        for name in servers:
            builder.server(name, f"{name}-mcp").snapshot(name, tools[name])
        builder.write()

    return write


def agent(front: str, path: str = "agents/a/AGENT.md") -> dict[str, str]:
    """Return the file of an agent with this front matter beside its name."""
    return {path: f"---\nname: a\n{front}\n---\n\nYou help.\n"}


@pytest.mark.parametrize(
    "front, shown",
    [
        ("tools: []", [("OCT455", "[]")]),
        ('tools: ""', [("OCT455", '""')]),
        ("type: deep_research\ntools: []", [("OCT455", "[]")]),
        ("type: supervisor\ntools: []", []),
        ("tools: [Read]", []),
        ("color: red", []),
    ],
)
def test_an_empty_list_of_tools(lint: Lint, front: str, shown: list[tuple[str, str]]) -> None:
    """It is marked where it means none, and not where `tools` means nothing or is absent."""
    assert lint(agent(f"description: An agent.\n{front}")).shown("OCT455") == shown


def test_an_empty_list_of_tools_of_claude_code(lint: Lint) -> None:
    """Claude Code gives the agent no tool, so its own agents may ask for none."""
    assert lint(agent("description: An agent.\ntools: []", ".claude/agents/a.md")).shown("OCT455") == []


def test_a_long_description_is_marked_where_it_is_cut(lint: Lint) -> None:
    """The part that routing does not show is marked, also in a folded text of several lines."""
    first = "Reviews a change for defects before it is merged, and says so line by line."
    rest = " ".join(["It looks at tests, at names and at comments."] * 4)
    linted = lint(agent(f"description: >\n  {first}\n  {rest}"))
    assert linted.shown("OCT456") == [("OCT456", f"\n  {rest}")]


def test_a_short_description_is_shown_whole(lint: Lint) -> None:
    """At 200 characters nothing is cut."""
    assert lint(agent(f"description: {'x' * MAX_DESCRIPTION}")).shown() == []
    assert lint(agent(f"description: {'x' * (MAX_DESCRIPTION + 1)}")).shown() == [("OCT456", "x")]


@given(st.text(alphabet="ab. ", min_size=150, max_size=400))
def test_how_much_of_a_description_is_shown(text: str) -> None:
    """Never more than there is; of a long one 200 characters, or a sentence that ends from the 51st to the 300th."""
    shown = shown_length(text)
    assert shown <= len(text)
    if len(text) <= MAX_DESCRIPTION:
        assert shown == len(text)
    elif shown != MAX_DESCRIPTION:
        assert text[shown - 1] == "."
        assert "." not in text[50 : shown - 1]
        assert 50 < shown <= 300


@pytest.mark.parametrize(
    "model, shown",
    [
        ("hihg", [("OCT457", "hihg")]),
        ("sonnet", [("OCT457", "sonnet")]),
        ("high", []),
        ("inherit", []),
        ("", []),
        ("claude-sonnet-4-5", []),
        ("openai/o3", []),
    ],
)
def test_models_of_octo(lint: Lint, model: str, shown: list[tuple[str, str]]) -> None:
    """A tier, or what looks like a model's name, is right; anything else is marked."""
    assert lint(agent(f"description: An agent.\nmodel: {model}")).shown() == shown


def test_models_of_claude_code(lint: Lint) -> None:
    """Claude Code has aliases of its own."""
    assert lint(agent("description: An agent.\nmodel: sonnet", ".claude/agents/a.md")).shown() == []


@pytest.mark.parametrize(
    "path, front, fixed",
    [
        ("agents/a/AGENT.md", "tools: [Read, log]", "tools: [Read, git/log]"),
        ("agents/a/AGENT.md", 'tools: "Read, log"', 'tools: "Read, git/log"'),
        (".claude/agents/a.md", "tools:\n  - log  # history", "tools:\n  - mcp__git__log  # history"),
    ],
)
def test_a_tool_without_its_server(lint: Lint, listed: Listed, path: str, front: str, fixed: str) -> None:
    """A bare name is marked, and the fix writes each client's own full name; comments and quotes stay."""
    listed("git", "diary")
    linted = lint(agent(f"description: An agent.\n{front}", path))
    (found,) = linted.of("OCT458")
    assert linted.text_at(found.span) == "log"
    assert linted.fixed(found) == linted.text(path).replace(front, fixed)


@pytest.mark.parametrize("tools", ["[git/log]", "[mcp__git__log]", "[Read]", "[both]", "[nowhere]"])
def test_tools_that_are_not_bare(lint: Lint, listed: Listed, tools: str) -> None:
    """A qualified name, a tool of the host, and a name on no server or on several are not findings of this rule."""
    listed("git", "diary")
    assert lint(agent(f"description: An agent.\ntools: {tools}")).shown("OCT458") == []


def test_a_bare_tool_where_one_server_is(lint: Lint, listed: Listed) -> None:
    """Where an agent can reach one server only there is nothing to confuse."""
    listed("git")
    assert lint(agent("description: An agent.\ntools: [log]")).shown("OCT458") == []


def test_a_slip_in_a_tool_is_mended(lint: Lint, listed: Listed) -> None:
    """A misspelled name gets a fix if exactly one tool is near."""
    listed("git", "diary")
    linted = lint(agent("description: An agent.\ntools: [git/lgo, add_entyr, list_fil]"))
    slip, entry, near = sorted(linted.of("OCT321"), key=lambda found: found.span)
    assert "git/log" in linted.fixed(slip)
    assert "add_entry" in linted.fixed(entry)
    assert near.fix is None


@pytest.mark.parametrize(
    "front, settings, count",
    [
        ({"tools": ["git/*"]}, {}, 0),
        ({"tools": ["git/*"]}, {"max_tools": 4}, 0),
        ({"tools": ["git/*"]}, {"max_tools": 3}, 1),
        ({"tools": ["git/*"]}, {"max_tokens": 40}, 1),
        ({"tools": ["git/log"]}, {"max_tools": 1}, 0),
        ({}, {"max_tools": 1, "max_tokens": 1}, 0),
    ],
)
def test_what_every_prompt_holds_has_a_budget(
    tmp_path: Path, front: dict[str, Any], settings: dict[str, int], count: int
) -> None:
    """The tools that an agent sees from the start are counted, and weighed; those that it has to find are not."""
    builder = WorkspaceBuilder(tmp_path, lint=settings).server("git", "git-mcp")
    builder.snapshot("git", ["log", "diff", "show", "blame"]).agent("a", **front).write()
    found = [one for one in check_workspace(tmp_path, use_cache=False).diagnostics if one.rule.code == "OCT459"]
    assert len(found) == count
    for one in found:
        assert one.span is not None
        assert (one.span.file, one.span.line) == ("agents/a/AGENT.md", 4)
        assert "has 4 tools in every prompt" in one.message
        assert one.notes == ("most are on `git` (4)",)


def test_a_manifests_budget_is_of_its_capabilities(tmp_path: Path) -> None:
    """The tools of boot capabilities count, and the finding is where the manifest names them."""
    builder = WorkspaceBuilder(tmp_path, lint={"max_tools": 1})
    builder.capability("git", ["show the log"], server={"command": "git-mcp"}, allowed_tools=["git:*"])
    builder.snapshot("git", ["log", "diff"]).octomind_agent("dev", "a", capabilities=["git"]).write()
    found = [one for one in check_workspace(tmp_path, use_cache=False).diagnostics if one.rule.code == "OCT459"]
    assert [one.span.line for one in found if one.span is not None] == [4]
    assert found[0].help is not None
    assert "fewer capabilities" in found[0].help


@pytest.mark.parametrize(
    "kind, entry, hint",
    [
        ("claude", "mcp__githb__x", "no server is called `githb`: did you mean `github`?"),
        ("claude", "mcp__jra", "no server is called `jra`: did you mean `jira`?"),
        ("claude", "mcp__weather__now", None),
        ("claude", "Raed", "did you mean `Read`?"),
        ("claude", "Graep", "did you mean `Grep`?"),
        ("claude", "Wrote", "did you mean `Write`?"),
        ("claude", "Workflow(fast:review)", None),
        ("claude", "Workflwo(fast:review)", "did you mean `Workflow`?"),
        ("claude", "search", "did you mean `WebSearch` or `ToolSearch`?"),
        ("claude", "Imagine", "a server's tool is written `mcp__<server>__<tool>`"),
        ("octo", "Raed", None),
        ("octo", "mcp__githb__x", "no server is called `githb`: did you mean `github`?"),
    ],
)
def test_what_is_found_nowhere_has_a_next_step(lint: Lint, kind: str, entry: str, hint: str | None) -> None:
    """An unknown server or a misspelled host tool is reported with near names, also without recorded tools."""
    path = ".claude/agents/a.md" if kind == "claude" else "agents/a/AGENT.md"
    servers = {"github": {"command": "x"}, "jira": {"command": "y"}}
    linted = lint(agent(f"description: An agent.\ntools: Read, {entry}", path), servers=servers)
    assert [found.help for found in linted.of("OCT321")] == ([] if hint is None else [hint])
    # A bare name that is near no tool may be one of a newer version of the client.
    severity = Severity.INFO if entry in ("search", "Imagine") else Severity.WARNING
    assert [found.severity for found in linted.of("OCT321")] == ([] if hint is None else [severity])


def test_tools_of_servers_elsewhere_are_one_info(lint: Lint) -> None:
    """A plugin, a connector or a user may define a server that the repository does not: no warning, no error."""
    tools = "mcp__plugin_team_board__list, mcp__claude_ai_Mail__send, mcp__plugin_team_board__add"
    with_others = lint(agent(f"description: An agent.\ntools: Read, {tools}", ".claude/agents/a.md"))
    alone = lint(agent(f"description: An agent.\ntools: {tools}", ".claude/agents/a.md"))
    for linted, effect in (
        (with_others, "octoc gives the agent its other tools"),
        (alone, "octoc leaves the agent out"),
    ):
        (found,) = linted.of("OCT745")
        assert found.severity is Severity.INFO
        assert "`plugin_team_board`, `claude_ai_Mail`" in found.message
        assert (found.help or "").startswith(effect)
        assert not linted.of("OCT321")
        assert not linted.of("OCT330")
