"""The converter: plain values become models, and each located value keeps its place."""

import attrs

from octoc.compiler.model.documents import REMOVED
from octoc.compiler.model.located import KEY, OWN_NAME, Located
from octoc.compiler.structure.converter import structured
from octoc.diagnostics.model import Place

FILE = Place(file="a.toml")


@attrs.frozen(kw_only=True)
class Entry:
    name: str = attrs.field(metadata={KEY: OWN_NAME})
    place: Place
    size: float
    owner: Located[str] | None = None


@attrs.frozen(kw_only=True)
class Whole:
    entries: tuple[Entry, ...] = ()
    words: tuple[Located[str], ...] = ()
    depth: int = attrs.field(default=3, metadata={KEY: ("limits", "depth")})


def test_each_value_keeps_its_place() -> None:
    """Fields, entries of tables, and elements of lists have the places of their keys and indexes in the file."""
    values = {"entries": {"a": {"size": 1, "owner": " me "}}, "words": ["x", REMOVED, "y"], "limits": {"depth": 4.0}}
    whole = structured(Whole, values, FILE)
    at = FILE.child("entries", "a")
    assert whole.entries == (Entry(name="a", place=at, size=1.0, owner=Located("me", at.child("owner"))),)
    assert whole.words == (Located("x", FILE.child("words", 0)), Located("y", FILE.child("words", 2)))
    assert (whole.depth, type(whole.depth), type(whole.entries[0].size)) == (4, int, float)


def test_a_string_is_a_list_of_itself() -> None:
    """Where a list may be one string, the element has the place of the key."""
    assert structured(Whole, {"words": "x"}, FILE).words == (Located("x", FILE.child("words")),)


def test_an_element_without_a_required_key_is_skipped() -> None:
    """Check has reported and cut the key; the other elements stay, and absent keys have their defaults."""
    whole = structured(Whole, {"entries": {"a": {}, "b": {"size": 2}}}, FILE)
    assert [entry.name for entry in whole.entries] == ["b"]
    assert whole.depth == 3
