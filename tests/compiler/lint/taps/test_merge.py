"""Octomind's two readings of `allowed_tools`."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.lint.taps.merge import dynamic_filter, merge_role, static_filter
from octoc.compiler.model.located import Located
from octoc.compiler.model.source import AgentSource, ProviderSource, ServerSource
from octoc.diagnostics.model import Place
from octoc.names import ToolPattern

PLACE = Place(file="x.toml")
AGENT = AgentSource(name="a:b", kind="octomind", place=PLACE)


def provider(name: str, *patterns: str, servers: Sequence[str] = ()) -> ProviderSource:
    """Return a provider whose servers have its own name by default."""
    own = servers or (name,)
    return ProviderSource(
        name=name,
        place=PLACE,
        server_refs=tuple(Located(server, PLACE) for server in own),
        allowed_tools=tuple(Located(pattern, PLACE) for pattern in patterns),
        servers=tuple(ServerSource(name=s, place=Place(file=f"{name}.toml"), transport="stdio") for s in own),
    )


def merged(*providers: ProviderSource, server: str) -> list[str] | None:
    """Return the patterns that apply to a server after the merge, None for every tool."""
    found = static_filter(merge_role(AGENT, [(p.name, p) for p in providers]), server)
    return None if found is None else [pattern.located.value for pattern in found]


def test_no_pattern_at_all_grants_everything() -> None:
    """A merged list that stays empty filters nothing."""
    assert merged(provider("mail"), provider("clock"), server="mail") is None


def test_a_server_without_a_pattern_is_dropped_when_others_have_some() -> None:
    """An empty list beside another capability's patterns leaves the server nothing."""
    assert merged(provider("mail"), provider("clock", "clock:*"), server="mail") == []
    assert merged(provider("mail"), provider("clock", "clock:*"), server="clock") is None


def test_bare_patterns_reach_every_server() -> None:
    """A pattern without a server applies to all servers, also to those of a capability without patterns."""
    assert merged(provider("mail"), provider("web", "search", "web:read"), server="mail") == ["search"]
    assert merged(provider("mail"), provider("web", "search", "web:read"), server="web") == ["search", "web:read"]


def test_equal_patterns_count_once_and_keep_their_first_owner() -> None:
    """The merge is by string, in the order written."""
    role = merge_role(AGENT, [("a", provider("a", "x", "y")), ("b", provider("b", "y", "z"))])
    assert [(pattern.located.value, pattern.owner) for pattern in role.patterns] == [("x", "a"), ("y", "a"), ("z", "b")]


def test_the_first_definition_of_a_server_wins() -> None:
    """Two definitions of one name never clash: the later one is not looked at."""
    role = merge_role(AGENT, [("a", provider("a", servers=["s"])), ("b", provider("b", servers=["s"]))])
    assert role.servers["s"].place.file == "a.toml"
    assert role.server_refs == ("s",)


def test_alone_a_filter_that_names_no_own_tool_fails_open() -> None:
    """When a capability is activated alone, patterns that are all for other servers grant everything."""
    assert dynamic_filter(provider("mail", "clock:*"), "mail") is None
    assert dynamic_filter(provider("mail"), "mail") is None
    alone = dynamic_filter(provider("mail", "send", "mail:read", "clock:*"), "mail")
    assert [located.value for located in alone or ()] == ["send", "mail:read"]


PATTERNS = st.lists(st.sampled_from(["find", "find_*", "a:*", "a:get", "b:get", "b:put*"]), max_size=4)


@given(PATTERNS, PATTERNS)
def test_what_reaches_a_server_alone_reaches_it_merged(one: list[str], other: list[str]) -> None:
    """The merge never takes away a pattern that the capability has for its server."""
    a, b = provider("a", *one), provider("b", *other)
    alone, both = dynamic_filter(a, "a"), merged(a, b, server="a")
    if alone is not None and both is not None:
        assert {located.value for located in alone} <= set(both)
    if both is None:
        assert (not one and not other) or "a:*" in {*one, *other}
    else:
        assert all(ToolPattern.parse(pattern).server in (None, "a") for pattern in both)
