"""Laws of the ranking: what is out of scope is as if it were not there, and what joins as if it always had been."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.compiler.index.dense import dense_arrays, texts_of
from octoc.search.fields import ToolText
from octoc.search.index import Index, Rows, lexical_arrays
from octoc.search.products import Name
from octoc.search.rank import Query, RankedTool, Ranking, rank
from octoc.testing import FakeEmbedder

SERVERS = ("files", "tracker", "chat")
EMBED = FakeEmbedder().embed
WORDS = ["create", "issue", "file", "read", "message", "channel", "delete", "label", "issues", "folder", "now"]
phrases = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
tools = st.builds(
    ToolText,
    server=st.sampled_from(SERVERS),
    name=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("_".join),
    description=phrases,
    schema=st.one_of(
        st.none(), phrases.map(lambda text: {"properties": {"a": {"description": text, "enum": ["label", 3, None]}}})
    ),
    triggers=st.lists(phrases, max_size=2),
)
queries = st.lists(st.sampled_from([*WORDS, "mesage", "isue", "zebra", "and", "the"]), max_size=6).map(" ".join)
lists = st.lists(tools, min_size=1, max_size=12)
quiet = settings(max_examples=60)


def _index(found: Sequence[ToolText], *, dense: bool) -> Index:
    arrays = {"servers": np.array([SERVERS.index(tool.server) for tool in found], np.uint16)}
    if not dense:
        return Index.of({**lexical_arrays(found), **arrays})
    vectors = {text: EMBED(text) for text in texts_of(found, SERVERS)}
    return Index.of({**dense_arrays(found, SERVERS, vectors), **arrays})


def _rank(query: str, parts: Sequence[Index], numbers: Sequence[int] | None, *, dense: bool) -> Ranking:
    ready = Query.of(query, EMBED if dense else None)
    rows = None if numbers is None else np.array(numbers, np.int64)
    return rank(ready, parts, rows, lambda number: f"{number:04}", 10)


def _plain(ranking: Ranking, numbers: Sequence[int] | None = None) -> list[tuple[int, float]]:
    def original(found: RankedTool) -> int:
        return found.number if numbers is None else numbers[found.number]

    return [(original(found), found.score) for found in ranking.matches]


def test_a_word_that_most_of_a_few_tools_have_still_fits() -> None:
    """Among a few tools of one kind, the word for that kind fits a query, though all of them have it."""
    verbs = ("create", "delete", "rename", "list", "compare", "protect")
    found = [ToolText(server="tracker", name=f"{verb}_branch", description="Of a branch.") for verb in verbs]
    index = _index(found, dense=False)
    assert _rank("merge branches", [index], None, dense=False).fits
    assert not _rank("order a pizza", [index], None, dense=False).fits


def test_a_ranking_leaves_out_only_what_is_beyond_the_limit() -> None:
    """With an encoder every tool of the scope is ranked up to the limit, however badly it fits."""
    found = [ToolText(server=SERVERS[0], name=f"{verb}_time", description="The time.") for verb in ("get", "convert")]
    for query in ("time", "order a pizza", "\N{SLICE OF PIZZA}"):
        assert len(_rank(query, [_index(found, dense=True)], None, dense=True).matches) == len(found)
    assert _rank(" ", [_index(found, dense=True)], None, dense=True) == Ranking()


@pytest.mark.parametrize("dense", [False, True])
def test_what_is_out_of_scope_is_as_if_it_were_not_there(dense: bool) -> None:
    """A scope's answers, scores and fit are those of an index of its tools alone."""

    @quiet
    @given(lists, queries, st.data())
    def law(found: list[ToolText], query: str, data: st.DataObject) -> None:
        numbers = sorted(data.draw(st.sets(st.integers(0, len(found) - 1), min_size=1)))
        masked = _rank(query, [_index(found, dense=dense)], numbers, dense=dense)
        alone = _rank(query, [_index([found[number] for number in numbers], dense=dense)], None, dense=dense)
        assert _plain(masked) == _plain(alone, numbers)
        assert (masked.fit, masked.missing) == (alone.fit, alone.missing)
        assert {one.number for one in masked.matches} <= set(numbers)

    law()


@pytest.mark.parametrize("dense", [False, True])
def test_tools_that_join_are_ranked_as_if_they_had_been_there(dense: bool) -> None:
    """An index in two parts answers as one in one part does."""

    @quiet
    @given(lists, lists, queries)
    def law(first: list[ToolText], second: list[ToolText], query: str) -> None:
        apart = _rank(query, [_index(first, dense=dense), _index(second, dense=dense)], None, dense=dense)
        together = _rank(query, [_index([*first, *second], dense=dense)], None, dense=dense)
        assert _plain(apart) == _plain(together)
        assert (apart.fit, apart.missing) == (together.fit, together.missing)

    law()


@quiet
@given(lists, queries)
def test_the_same_query_has_the_same_answer(found: list[ToolText], query: str) -> None:
    """Answers and scores are equal bit by bit on every run, ordered by score and then by name."""
    index = _index(found, dense=True)
    first, second = (_rank(query, [index], None, dense=True) for _ in range(2))
    assert first == second
    keys = [(-one.score, f"{one.number:04}") for one in first.matches]
    assert keys == sorted(keys)
    assert len(first.matches) <= 10


def test_nothing_fits_what_no_tool_does() -> None:
    """A query without a word of any tool finds nothing by words, and a query of nothing finds nothing at all."""
    index = _index([ToolText(server="files", name="read_file", description="Read a file.")], dense=False)
    nothing = _rank("turn the thermostats", [index], None, dense=False)
    assert (nothing.matches, nothing.fits, nothing.missing) == ((), False, ("turn", "thermostats"))
    assert _rank("  ", [index], None, dense=False) == Ranking()
    found = _rank("file", [index], None, dense=False)
    assert ([one.number for one in found.matches], found.fits, found.missing) == ([0], True, ())


def test_the_fit_of_a_query_in_another_language_is_not_judged() -> None:
    """A query by words in another language is never labelled, since few of its words can be those of a tool."""
    index = _index([ToolText(server="files", name="read_file", description="Read a file.")], dense=False)
    assert _rank("wo ist der Schlüssel für das file und das Haus", [index], None, dense=False).fits
    assert not _rank("the file of the garden key and house door", [index], None, dense=False).fits


def test_words_of_examples_are_not_spelled_out() -> None:
    """The fit tells a word in a tool's name or description from one that only its examples have."""
    named = ToolText(server="files", name="read_page")
    for tools, spelled in (([named], True), ([attrs.evolve(named, name="open", triggers=["read page"])], False)):
        measures = _rank("read page", [_index(tools, dense=False)], None, dense=False).measures
        assert measures is not None
        assert measures.share > 0
        assert bool(measures.spelled) == spelled
    other = ToolText(server="files", name="close", description="Close it.")
    both = _rank("read page", [_index([other], dense=False), _index([named], dense=False)], None, dense=False).measures
    assert both is not None
    assert both.spelled == pytest.approx(both.share)


def test_a_misspelt_word_finds_what_was_meant() -> None:
    """A word that no tool has counts as the one that it is a slip of, and less than that one itself."""
    found = [ToolText(server="chat", name="send_message"), ToolText(server="files", name="read_file")]
    index = _index(found, dense=False)
    (right,), (wrong,) = (_rank(text, [index], None, dense=False).matches for text in ("message", "mesage"))
    assert (right.number, wrong.number) == (0, 0)
    assert wrong.score < right.score


def test_fields_count_by_what_they_are() -> None:
    """The same word counts most in a name, then in a description, then in a parameter's description."""
    parameter = {"properties": {"x": {"description": "the label"}}}
    found = [
        ToolText(server="chat", name="post", schema=parameter),
        ToolText(server="chat", name="post", description="label"),
        ToolText(server="chat", name="label"),
    ]
    assert [one.number for one in _rank("label", [_index(found, dense=False)], None, dense=False).matches] == [2, 1, 0]


def test_a_schema_that_is_none_is_no_schema() -> None:
    """Whatever a server calls a schema, its tool is indexed."""
    strange: list[Any] = [True, [], {"properties": 3}, {"properties": {"a": None}}, {"anyOf": {"x": 1}}, {"items": [1]}]
    for schema in strange:
        index = _index([ToolText(server="chat", name="ping", schema=schema)], dense=False)
        assert [one.number for one in _rank("ping", [index], None, dense=False).matches] == [0]


@given(st.integers(1, 40), st.integers(0, 1000))
def test_small_numbers_keep_the_cosines(count: int, seed: int) -> None:
    """Vectors as 8-bit numbers keep every cosine to a hundredth."""
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(count, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    products = Rows.of(vectors).cosines(vectors[:1])[:, 0]
    assert np.abs(products - vectors @ vectors[0]).max() < 0.01


def test_many_tools_are_ranked_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the best of each part are looked at with the clauses too, the first is the same."""
    found = [ToolText(server=SERVERS[n % 3], name=f"{WORDS[n % 10]}_{WORDS[n // 10 % 10]}_x{n}") for n in range(300)]
    index = _index(found, dense=True)
    whole = _rank("read message, create label", [index], None, dense=True)
    monkeypatch.setattr("octoc.search.rank.UNION_ABOVE", 250)
    monkeypatch.setattr("octoc.search.rank.UNION", 100)
    some = _rank("read message, create label", [index], None, dense=True)
    assert some.matches[0].number == whole.matches[0].number
    assert len(some.matches) == len(whole.matches)


def test_a_slip_says_nothing_of_others_tools() -> None:
    """Whether a misspelt word stands for another one hangs on the tools in scope alone, not on who else spells it."""
    own = ToolText(server="chat", name="post", triggers=("message",))
    others = ToolText(server="files", name="read", description="message")
    assert _rank("mesage", [_index([own, others], dense=False)], [0], dense=False).matches == ()
    assert [one.number for one in _rank("mesage", [_index([own, others], dense=False)], None, dense=False).matches] == [
        1
    ]


NAMES: dict[Name, tuple[int, ...]] = {("tracker",): (1,), ("chat",): (2,)}
FLEET = [
    ToolText(server="files", name="list_issues", description="List issues and tickets of a folder."),
    ToolText(server="tracker", name="list_bugs", description="List bugs."),
    ToolText(server="tracker", name="create_bug", description="Create a bug."),
    ToolText(server="chat", name="send_message", description="Send a message."),
]


def _asked(query: str, *, dense: bool, numbers: Sequence[int] | None = None) -> Ranking:
    ready = Query.of(query, EMBED if dense else None, NAMES)
    rows = None if numbers is None else np.array(numbers, np.int64)
    return rank(ready, [_index(FLEET, dense=dense)], rows, lambda number: f"{number:04}", 10)


@pytest.mark.parametrize("dense", [False, True])
def test_the_tools_of_a_named_server_come_first(dense: bool) -> None:
    """A server's name counts more than any likeness, unless the server has no tool in scope."""
    assert {one.number for one in _asked("list issues and tickets in tracker", dense=dense).matches[:2]} == {1, 2}
    assert _asked("list issues and tickets in tracker", dense=dense, numbers=[0, 3]).matches[0].number == 0


@pytest.mark.parametrize("dense", [False, True])
def test_a_product_without_a_tool_does_not_fit(dense: bool) -> None:
    """A known product that no tool in scope mentions is a reason against a fit, unless a tool mentions it."""
    assert _asked("list bugs in jira", dense=dense).unknown == ("jira",)
    assert _asked("list bugs in tracker", dense=dense).unknown == ()
    with_jira = [*FLEET, ToolText(server="files", name="sync", description="Copy JIRA bugs.")]
    ready = Query.of("list bugs in jira", EMBED if dense else None)
    for rows, unknown in ((None, ()), (np.arange(4), ("jira",))):
        assert rank(ready, [_index(with_jira, dense=dense)], rows, str, 10).unknown == unknown


@pytest.mark.parametrize("dense", [False, True])
def test_an_action_that_a_named_server_lacks_does_not_fit(dense: bool) -> None:
    """The word for an action is looked for in the tools of the named server alone, with other words for the same."""
    lacking = _asked("delete a message in chat", dense=dense)
    assert (lacking.lacking, lacking.fits) == ("delete", False)
    for query in ("open a bug in tracker", "show deleted messages in chat", "post a message in chat"):
        assert _asked(query, dense=dense).lacking == ""
    assert _asked("send a bug in tracker", dense=dense, numbers=[1, 3]).lacking == "send"


def test_an_index_without_needs_ranks_alike() -> None:
    """An index of an older bundle has no needs: it ranks the same, and a query far from everything does not fit."""
    whole = _index(FLEET, dense=True)
    assert whole.meaning is not None
    old = attrs.evolve(whole, needs=None, meaning=attrs.evolve(whole.meaning, needs_of=None))
    for query in ("list bugs", "order a pizza"):
        found, older = (_rank(query, [index], None, dense=True) for index in (whole, old))
        assert _plain(found) == _plain(older)
    assert not _rank("zzzz", [old], None, dense=True).fits


def test_queries_in_other_scripts_are_not_judged() -> None:
    """The fit was fitted on Latin script: in another one only a missing product or action speaks against it."""
    assert _asked("读取本地文本文件的内容", dense=True).fits
    assert not _asked("列出 jira 的所有问题", dense=True).fits
