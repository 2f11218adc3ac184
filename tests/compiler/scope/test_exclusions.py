"""`disallowedTools` takes tools away, whether or not they are recorded, and an entry that takes nothing is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from octoc.bundle.model import Registry
from octoc.compiler.cache.store import Cache
from octoc.compiler.pipeline import run_to_scope
from octoc.compiler.workspace.load import load_workspace
from octoc.diagnostics.model import Diagnostic
from octoc.plugin.manager import Plugins
from octoc.testing import WorkspaceBuilder

RULE = "OCT374"


@attrs.frozen
class Reviewer:
    """What an agent with `disallowedTools` has."""

    tools: frozenset[str]
    registry: Registry
    found: tuple[Diagnostic, ...]

    @property
    def severities(self) -> list[str]:
        """The severity of each finding about an exclusion."""
        return [one.severity.name for one in self.found]


Compile = Callable[..., Reviewer]


@pytest.fixture
def reviewer(tmp_path: Path) -> Compile:
    """A function from `disallowedTools` to the agent `reviewer`: `git` is recorded, `raw` and `a` are not.

    Capabilities: `history` (`git:log`), `sending` (`git:push`, `raw:send*`), `raws` (all of `raw`).
    """

    def compile_(entries: str, *, tap: bool = False, tools: str = "", unlisted: bool = True) -> Reviewer:
        builder = WorkspaceBuilder(tmp_path).tap().server("git", "git-mcp").snapshot("git", ["log", "push", "Edit"])
        if unlisted:
            builder.server("raw", "raw-mcp").server("a", "a-mcp")
        front = f"disallowedTools: {entries}\n" + (f"tools: {tools}\n" if tools else "")
        text = f"---\nname: reviewer\ndescription: Reads the history of changes\n{front}---\nYou review.\n"
        builder.file("taps/local/agents/reviewer/AGENT.md" if tap else "agents/reviewer.md", text)
        for name, servers, patterns in (
            ("history", ["git"], ["git:log"]),
            ("sending", ["git", "raw"] if unlisted else ["git"], ["git:push", *(["raw:send*"] if unlisted else [])]),
        ):
            folder = f"taps/local/capabilities/{name}"
            builder.file(f"{folder}/config.toml", f'triggers = ["{name} one", "{name} two", "{name} three"]\n')
            roles = f"[roles.mcp]\nserver_refs = {servers}\nallowed_tools = {patterns}\n".replace("'", '"')
            builder.file(f"{folder}/default.toml", f"# Title: {name}\n# Description: About {name}\n\n{roles}")
        builder.write()
        loaded = load_workspace(tmp_path, cache=Cache(None), plugins=Plugins())
        assert loaded.settings is not None
        scoped = run_to_scope(loaded.settings, loaded.context).scoped
        registry = scoped.registries["reviewer"]
        return Reviewer(
            tools=frozenset(str(scoped.tools[index].id) for index in registry.tools),
            registry=registry,
            found=tuple(one for one in loaded.context.sink.diagnostics if one.rule.code == RULE),
        )

    return compile_


GIT = {"git/log", "git/push", "git/Edit"}


@pytest.mark.parametrize(
    "entry",
    ["raw__send", "mcp__raw__send", "raw/send", "raw:send", '["send"]', "mcp__raw__send, mcp__git__log", "send, push"],
)
def test_an_exclusion_is_in_force_for_a_server_without_a_snapshot(reviewer: Compile, entry: str) -> None:
    """Whatever else is recorded, the bundle has the pattern, and the rest of the server stays."""
    made = reviewer(entry)
    assert ("raw", "send") in {(one.server, glob) for one in made.registry.excluded for glob in one.globs}
    assert {one.server for one in made.registry.unlisted} == {"raw", "a"}
    assert made.found == ()


@pytest.mark.parametrize("entry", ["raw", "mcp__raw", "mcp__raw__*", "raw/*", "mcp__ra*"])
def test_a_server_that_is_excluded_as_a_whole_is_not_there(reviewer: Compile, entry: str) -> None:
    """No grant and no pattern of it is left."""
    made = reviewer(entry if entry != "raw" else "raw/")
    assert {one.server for one in made.registry.unlisted} == {"a"}
    assert made.registry.excluded == ()


@pytest.mark.parametrize("entry", ["mcp__*", '"*"'])
def test_all_servers_can_be_excluded(reviewer: Compile, entry: str) -> None:
    """Nothing is left, capabilities neither."""
    made = reviewer(entry)
    assert made.tools == frozenset()
    assert made.registry.unlisted == ()
    assert made.registry.capabilities == ()


def test_a_name_that_can_be_read_in_two_ways_excludes_both(reviewer: Compile) -> None:
    """`a__b__c` may be a tool of `a` or of `a__b`: both are excluded."""
    made = reviewer("mcp__a__b__c")
    assert made.registry.excluded[0].globs == ("b__c",)


@pytest.mark.parametrize(
    "entry, left",
    [
        ("git/log", ("sending",)),
        ("git/push", ("history", "sending")),
        ("git/push, raw/send*", ("history",)),
        ("git/push, raw/s*", ("history",)),
        ("git/*, raw/*", ()),
        ("Bash", ("history", "sending")),
    ],
)
def test_a_capability_of_which_nothing_is_left_is_not_listed(
    reviewer: Compile, entry: str, left: tuple[str, ...]
) -> None:
    """One of whose tools all are excluded does not exist for the agent; one with a tool that is left does."""
    assert reviewer(entry).registry.capabilities == left


def test_named_tools_are_less_what_is_excluded(reviewer: Compile) -> None:
    """`tools` of a server that is not recorded stay, without the pattern."""
    made = reviewer("raw/send", tools="raw/*, git/log")
    assert made.tools == {"git/log"}
    assert [one.globs for one in made.registry.unlisted_direct] == [("*",)]
    assert [one.globs for one in made.registry.excluded] == [("send",)]


@pytest.mark.parametrize("entry", ["Bash", "Bash(git push:*)", "WebFetch(domain:example.com)", "Edit"])
def test_tools_of_the_host_are_no_finding(reviewer: Compile, entry: str) -> None:
    """Built-in tools of clients are excluded by the client."""
    assert reviewer(entry).found == ()


@pytest.mark.parametrize(
    "entry, gone",
    [
        ("mcp__git__psh", GIT),  # the server is known and recorded
        ("git/comit", GIT),
        ("mcp__gti__push", GIT),  # a slip of its name
        ("mcp__GIT__push", GIT),
        ("psuh", {"git/push"}),  # a slip of a tool's name
        ("Bsh", set()),
    ],
)
def test_a_mistake_is_an_error_and_excludes_what_it_nearly_names(reviewer: Compile, entry: str, gone: set[str]) -> None:
    """No slip gives an agent a tool."""
    made = reviewer(entry)
    assert made.severities == ["ERROR"]
    assert made.tools == GIT - gone


@pytest.mark.parametrize("entry", ["mcp__*__push", "git/*sh", "*push"])
def test_a_star_before_the_end_excludes_more_and_is_an_error(reviewer: Compile, entry: str) -> None:
    """Only a `*` at the end stands for any text, and the rest of such an entry counts for nothing."""
    made = reviewer(f'"{entry}"')
    assert made.severities == ["ERROR"]
    assert "git/push" not in made.tools


@pytest.mark.parametrize(
    "entry",
    [
        "mcp__claude_ai_Gmail__send",
        "mcp__plugin_github_github__push",
        "mcp__plugin_git_gti",
        "mcp__notion__search, notion__x, mcp__sentry",
        "mcp__gitlab__push",
    ],
)
def test_what_others_may_bring_is_one_info(reviewer: Compile, entry: str) -> None:
    """An unknown server that a plugin, a connector or the user may bring is one finding of information."""
    made = reviewer(entry)
    assert made.severities == ["INFO"]
    assert made.tools == GIT


@pytest.mark.parametrize(
    "entry, severity",
    [
        ("mcp__notion__search", "ERROR"),
        ("nothing_like_it", "ERROR"),
        ("mcp__claude_ai_Gmail__send", "INFO"),
        ("mcp__plugin_x_git__push", "INFO"),
    ],
)
def test_in_a_tap_what_nothing_is_called_is_an_error(reviewer: Compile, entry: str, severity: str) -> None:
    """A tap is octoc's own, and still may exclude what a plugin or connector brings."""
    assert reviewer(entry, tap=True, unlisted=False).severities == [severity]


def test_a_bare_name_is_in_force_for_what_is_not_recorded(reviewer: Compile) -> None:
    """An unknown bare name has no finding while an unlisted server may have it, and information otherwise."""
    assert reviewer("nothing_like_it").found == ()
    assert reviewer("nothing_like_it", unlisted=False).severities == ["INFO"]
