"""Rules on what Octomind's merge makes of patterns."""

import json
from collections.abc import Callable
from typing import Any

from octoc.testing import WorkspaceBuilder

Files = Callable[..., dict[str, str]]


def test_an_empty_list_beside_patterns(lint_tap: Callable[..., Any], capability: Files, agent: Files) -> None:
    """`[]` is reported once with its agents counted, at the list, with the pattern that makes the merged list."""
    agents = [agent(f"office:{name}", "clock", "mail") for name in ("ada", "bob", "cy", "dan")]
    linted = lint_tap(capability("clock", ["clock:*"]), capability("mail", []), *agents)
    (found,) = linted.of("OCT410")
    assert linted.text_at(found.span) == "[]"
    assert "no tool once Octomind merges it into 4 agents: `office:ada`, `office:bob`, `office:cy` and 1 more" in (
        found.message
    )
    assert [linted.text_at(label.span) for label in found.related] == ['"clock:*"', '"mail"']
    assert 'allowed_tools = ["mail:*"]\n' in linted.fixed(found)


def test_only_bare_patterns_of_others_are_left(lint_tap: Callable[..., Any], capability: Files, agent: Files) -> None:
    """A server that bare patterns of another capability reach is not dropped, and the message says what is left."""
    linted = lint_tap(capability("web", ["search"]), capability("mail", []), agent("office:ada", "web", "mail"))
    (found,) = linted.of("OCT410")
    assert "only what pattern `search` can match once Octomind merges it into agent `office:ada`" in found.message


def test_a_manifests_own_server_beside_a_capability(
    lint_tap: Callable[..., Any], capability: Files, agent: Files
) -> None:
    """A server of the manifest's own that no merged pattern reaches is reported where it is named, with the pattern."""
    server = (
        '[[mcp.servers]]\nname = "own"\ntype = "stdio"\ncommand = "o"\nargs = []\ntimeout_seconds = 3\ntools = []\n'
    )
    wiring = '[roles.mcp]\nserver_refs = ["own"]\n'
    clock = capability("clock", ["clock:*"])
    linted = lint_tap(clock, agent("office:ada", "clock", more=wiring + server))
    (found,) = linted.of("OCT410")
    assert linted.text_at(found.span) == '"own"'
    assert "has none of its tools once Octomind merges capability `clock` into it" in found.message
    assert [linted.text_at(label.span) for label in found.related] == ['"clock:*"']
    granted = wiring + 'allowed_tools = ["own:*"]\n' + server
    assert lint_tap(clock, agent("office:ada", "clock", more=granted)).of("OCT410") == []
    assert lint_tap(capability("clock", []), agent("office:ada", "clock", more=wiring + server)).of("OCT410") == []


def test_where_both_readings_agree(lint_tap: Callable[..., Any], capability: Files, agent: Files) -> None:
    """No finding where no pattern is merged, where another one grants all, or where no agent merges it."""
    both = agent("office:ada", "clock", "mail")
    assert lint_tap(capability("clock", []), capability("mail", []), both).of("OCT410") == []
    assert lint_tap(capability("clock", ["clock:*"]), capability("mail", ["mail:*"]), both).of("OCT410") == []
    alone = agent("office:ada", "clock")
    assert lint_tap(capability("clock", ["clock:*"]), capability("mail", []), alone).of("OCT410") == []


def test_recorded_tools_show_that_nothing_usable_is_left(tmp_path: Any, lint: Callable[..., Any]) -> None:
    """If the server's tools are recorded, bare patterns without a match leave no tool."""
    builder = WorkspaceBuilder(tmp_path)
    builder.capability("web", ["search the web for this"], server={"command": "web"}, allowed_tools=["search"])
    builder.capability("mail", ["send this by mail"], server={"command": "mail"})
    builder.octomind_agent("office", "ada", capabilities=["web", "mail"]).snapshot("mail", ["send", "read"])
    builder.write()
    snapshot = json.loads((tmp_path / "snapshots" / "mail.json").read_text(encoding="utf-8"))
    assert [tool["name"] for tool in snapshot["tools"]] == ["send", "read"]
    linted = lint({"octoc.toml": (tmp_path / "octoc.toml").read_text(encoding="utf-8")})
    (found,) = linted.of("OCT410")
    assert "and no tool once Octomind merges it" in found.message


def test_bare_patterns_get_their_server(lint_tap: Callable[..., Any], capability: Files, agent: Files) -> None:
    """Bare patterns of a file with one server are reported once, and the fix names the server in each."""
    linted = lint_tap(
        capability("clock", ["clock:*"]), capability("mail", ["send", "mail:x", "read_*"]),
        agent("office:ada", "clock", "mail"),
    )  # fmt: skip
    (found,) = linted.of("OCT418")
    assert linted.text_at(found.span) == '"send"'
    assert 'allowed_tools = ["mail:send", "mail:x", "mail:read_*"]\n' in linted.fixed(found)


def test_a_bare_pattern_in_an_agent_with_one_server(
    lint_tap: Callable[..., Any], capability: Files, agent: Files
) -> None:
    """With one server in the agent a bare pattern can match nothing else."""
    assert lint_tap(capability("mail", ["send"]), agent("office:ada", "mail")).of("OCT418") == []


def test_a_file_with_two_servers_has_no_fix(lint_tap: Callable[..., Any], capability: Files, agent: Files) -> None:
    """Where `[]` stands for two servers, naming one of them would take the other away."""
    files = capability("mail", [])
    (path,) = files
    second = '[[mcp.servers]]\nname = "post"\ntype = "stdio"\ncommand = "post"\nargs = []\n'
    second += "timeout_seconds = 30\ntools = []\n"
    text = files[path].replace('["mail"]', '["mail", "post"]') + second
    linted = lint_tap(capability("clock", ["clock:*"]), {path: text}, agent("office:ada", "clock", "mail"))
    found = linted.of("OCT410")
    assert [one.help for one in found] == ["add `mail:*`", "add `post:*`"]
    assert [one.fix for one in found] == [None, None]


def test_a_pattern_of_another_capability_for_this_server(
    lint_tap: Callable[..., Any], capability: Files, agent: Files
) -> None:
    """Another capability's pattern for the same server narrows the grant of `[]`."""
    linted = lint_tap(
        capability("read", ["notes:view"], server="notes"),
        capability("all", [], server="notes"),
        agent("office:ada", "read", "all"),
    )
    (found,) = linted.of("OCT410")
    assert "only what pattern `notes:view` can match" in found.message
    assert found.related[0].text == "pattern `notes:view` of capability `read` is for this server"
