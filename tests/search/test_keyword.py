from hypothesis import given
from hypothesis import strategies as st

from octoc.search.keyword import rank

TOOLS = [
    (7, "list_issues", "List issues in a GitHub repository"),
    (2, "get_time", "The current time in a zone"),
    (4, "create_issue", "Open a new issue"),
]


def _found(query: str, limit: int = 15) -> list[tuple[int, int]]:
    return rank(query, TOOLS, limit)


def test_words_are_counted_as_substrings_of_name_and_description() -> None:
    """A word counts when it is anywhere in the name or the description, whatever its case."""
    assert _found("GITHUB issue") == [(7, 2), (4, 1)]


def test_equal_scores_keep_the_order_of_registration() -> None:
    """Tools with as many hits stay in the order they were given in."""
    assert _found("issue") == [(7, 1), (4, 1)]


def test_a_repeated_word_counts_twice() -> None:
    """A word that the query has twice counts twice."""
    assert _found("time time") == [(2, 2)]


def test_no_word_is_stemmed_or_left_out() -> None:
    """Stop words count, and an ending that the tool does not have finds nothing."""
    assert _found("a") == [(7, 1), (2, 1), (4, 1)]
    assert _found("timezones") == []


def test_an_empty_query_finds_nothing() -> None:
    """A query of white space finds nothing."""
    assert _found(" \t ") == []


def test_at_most_limit_hits_are_returned() -> None:
    """The list ends at the limit, fifteen unless told otherwise."""
    assert _found("issue", 1) == [(7, 1)]
    many = [(key, "echo", "") for key in range(20)]
    assert rank("echo", many) == [(key, 1) for key in range(15)]


@given(st.text("ab ", max_size=8), st.lists(st.text("ab ", max_size=6), max_size=8))
def test_ranking_equals_its_definition(query: str, descriptions: list[str]) -> None:
    """The result is the stable sort by hits of all documents that have one."""
    documents = [(key, "t", text) for key, text in enumerate(descriptions)]
    scored = [(sum(w in f"t {text}" for w in query.split()), key) for key, text in enumerate(descriptions)]
    expected = sorted(((score, key) for score, key in scored if score), key=lambda pair: (-pair[0], pair[1]))
    assert [(score, key) for key, score in rank(query, documents)] == expected
