import hashlib
import re
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from octoc.aliases import ToolNames, alike, make_aliases, own_alias, sanitize
from octoc.choices import AliasStyle
from octoc.names import ToolId

ALIAS = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
# Few letters, so that two names become alike, and lengths around the limit.
SERVERS = st.text("ab_.é", min_size=1, max_size=40)
TOOLS = st.text("ab_./é", min_size=1, max_size=40)
IDS = st.builds(ToolId, SERVERS, TOOLS)


def _digest(tool: ToolId) -> str:
    return hashlib.sha256(str(tool).encode()).hexdigest()[:8]


def test_an_alias_is_the_server_and_the_tool_joined() -> None:
    """A tool is called `server__tool`, with each character that models refuse replaced by `_`."""
    aliases = make_aliases([ToolId("git", "git_log"), ToolId("my.srv", "get/é")])
    assert list(aliases.values()) == ["git__git_log", "my_srv__get__"]


def test_an_alias_that_is_too_long_ends_in_a_digest() -> None:
    """A name over 64 characters is cut and ends in `_` and 8 hex digits of the id's digest, 64 in all."""
    tool = ToolId("server", "t" * 80)
    aliases = make_aliases([tool])
    assert aliases[tool] == f"server__{'t' * 47}_{_digest(tool)}"
    assert len(aliases[tool]) == 64


def test_exactly_64_characters_stay_whole() -> None:
    """A name of exactly 64 characters is not cut."""
    tool = ToolId("server", "t" * 56)
    assert make_aliases([tool])[tool] == f"server__{'t' * 56}"


def test_both_of_two_alike_get_a_digest() -> None:
    """Two ids that become one name both carry their digests, and a third id does not."""
    one, two, other = ToolId("a.b", "c"), ToolId("a_b", "c"), ToolId("x", "y")
    aliases = make_aliases([one, two, other])
    assert aliases == {one: f"a_b__c_{_digest(one)}", two: f"a_b__c_{_digest(two)}", other: "x__y"}


def test_a_tool_named_like_anothers_digest_stays_apart() -> None:
    """A name that looks like another tool's alias with its digest does not take that alias."""
    one, two = ToolId("a.b", "c"), ToolId("a_b", "c")
    mimic = ToolId("a_b", f"c_{_digest(one)}")
    aliases = make_aliases([one, two, mimic])
    assert len(set(aliases.values())) == 3


def test_ids_that_are_written_alike_stay_apart() -> None:
    """Two ids with the same text, which share a digest, still get two aliases."""
    aliases = make_aliases([ToolId("a", "b/c"), ToolId("a/b", "c"), ToolId("a_b", "_c")])
    assert len(set(aliases.values())) == 3


def test_bare_style_shows_the_tools_own_names() -> None:
    """In bare style a unique name is shown as it is; two alike, and what is called like an own tool, are qualified."""
    log, skill = ToolId("git", "git_log"), ToolId("a", "skill")
    echo_a, echo_b = ToolId("a", "echo"), ToolId("b", "echo")
    aliases = make_aliases([log, echo_a, echo_b, skill], style="bare")
    assert aliases == {log: "git_log", echo_a: "a__echo", echo_b: "b__echo", skill: "a__skill"}
    assert alike([log, echo_a, echo_b, skill], "bare") == ((echo_a, echo_b),)


@given(st.lists(IDS, unique=True, max_size=8), st.sampled_from(["qualified", "bare"]))
def test_an_alias_is_a_tools_own_unless_another_would_be_called_the_same(ids: list[ToolId], style: AliasStyle) -> None:
    """By itself a tool has its own alias, and so it has among others of which none are alike."""
    assert all(make_aliases([tool], style)[tool] == own_alias(tool, style) for tool in ids)
    if not alike(ids, style):
        assert make_aliases(ids, style) == {tool: own_alias(tool, style) for tool in ids}


@given(st.lists(IDS, unique=True, max_size=12), st.sampled_from(get_args(AliasStyle)))
def test_aliases_are_legal_unique_and_read_back(ids: list[ToolId], style: AliasStyle) -> None:
    """Every alias is legal, no two are equal, and each form that names one tool resolves to it."""
    aliases = make_aliases(ids, style=style)
    assert set(aliases) == set(ids)
    assert all(ALIAS.match(alias) for alias in aliases.values())
    assert len(set(aliases.values())) == len(ids)
    names = ToolNames((index, tool, aliases[tool]) for index, tool in enumerate(ids))
    for index, tool in enumerate(ids):
        assert names.resolve(aliases[tool]) == index


@given(st.lists(IDS, unique=True, min_size=1, max_size=6), IDS)
def test_an_alias_does_not_depend_on_other_tools(ids: list[ToolId], added: ToolId) -> None:
    """Adding a tool changes no other alias unless the two are alike."""
    before = make_aliases(ids)
    after = make_aliases([*ids, added])
    shape = sanitize(f"{added.server}__{added.tool}")
    for tool in ids:
        if sanitize(f"{tool.server}__{tool.tool}") != shape:
            assert before[tool] == after[tool]


def test_the_order_of_tools_changes_no_alias() -> None:
    """The same tools in another order have the same aliases."""
    ids = [ToolId("a.b", "c"), ToolId("a_b", "c"), ToolId("x", "y" * 90)]
    assert make_aliases(ids) == make_aliases(ids[::-1])


NAMES = ToolNames(
    [
        (3, ToolId("github", "list_issues"), "github__list_issues"),
        (5, ToolId("a.b", "echo"), "a_b__echo"),
        (9, ToolId("c", "echo"), "c__echo"),
    ]
)


def test_every_written_form_of_a_name_is_understood() -> None:
    """The alias, `server/tool`, `server:tool`, `mcp__server__tool` and a unique bare name all mean the one tool."""
    forms = ["github__list_issues", "github/list_issues", "github:list_issues", "mcp__github__list_issues"]
    assert {NAMES.resolve(form) for form in [*forms, "list_issues"]} == {3}
    assert {NAMES.resolve(form) for form in ["a.b/echo", "a.b:echo", "mcp__a_b__echo", "a_b__echo"]} == {5}


def test_a_bare_name_of_several_servers_is_ambiguous() -> None:
    """A bare name that two servers have resolves to both."""
    assert NAMES.resolve("echo") == (5, 9)


def test_a_name_outside_the_registry_is_unknown() -> None:
    """What no tool of the registry is called resolves to nothing."""
    assert [NAMES.resolve(name) for name in ("", "issues", "github", "github/", "LIST_ISSUES")] == [None] * 5
