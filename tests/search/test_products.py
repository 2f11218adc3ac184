"""Products and servers that a query names, and the action that it asks for."""

from __future__ import annotations

import pytest

from octoc.search.actions import action_of
from octoc.search.products import Name, named_in, products_in, server_name

SERVERS: dict[Name, tuple[int, ...]] = {("github",): (0,), ("acme", "billing"): (1,), ("git",): (2,)}


@pytest.mark.parametrize(
    "text, products",
    [
        ("create a jira issue", [("jira",)]),
        ("upload this to Google Drive and to Dropbox", [("google", "drive"), ("dropbox",)]),
        ("create a linear issue for the bug", [("linear",)]),
        ("post it in teams", [("teams",)]),
        ("fit a linear model to the data", []),
        ("which teams are there", []),
        ("Signal the end of the song", []),
        ("Send Anna a Signal message", [("signal",)]),
        ("列出GitHub的问题", [("github",)]),
    ],
)
def test_products_are_found_where_they_are_meant(text: str, products: list[Name]) -> None:
    """A name that is an English word, too, counts as a product only where a product's name stands."""
    assert list(products_in(text)) == products


@pytest.mark.parametrize(
    "server, name",
    [
        ("github", ("github",)),
        ("github-mcp-server", ("github",)),
        ("Acme_Billing", ("acme", "billing")),
        ("files", ()),
        ("mcp-tools", ()),
    ],
)
def test_a_server_is_named_by_its_own_words(server: str, name: Name) -> None:
    """Words that many servers' names have do not count, and ordinary words alone name no server."""
    assert server_name(server) == name


@pytest.mark.parametrize(
    "text, numbers, rest",
    [
        ("list all tickets in GitHub", (0,), "list all tickets in"),
        ("github: look up a person", (0,), "look up a person"),
        ("refunds in acme billing", (1,), "refunds in"),
        ("acme refunds", (), "acme refunds"),
        ("github", (0,), "github"),
        ("digit sums", (), "digit sums"),
    ],
)
def test_the_rest_of_a_query_is_without_the_servers_names(text: str, numbers: tuple[int, ...], rest: str) -> None:
    """Names are found as whole words, and a query of a name alone keeps it."""
    assert named_in(text, SERVERS) == (numbers, rest)


def test_an_action_is_a_verb_that_changes_something() -> None:
    """A query that reads has no action; another one has its first, with the words that tools may have for it."""
    assert action_of("show deleted messages") is None
    assert action_of("the weather") is None
    found = action_of("erase the message")
    assert found is not None
    word, stems = found
    assert word == "erase"
    assert {"delet", "remov"} <= stems
    assert "creat" not in stems
