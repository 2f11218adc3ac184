"""The converter: plain values become models, and each located value keeps its place."""

import attrs
import pytest

from octoc.compiler.model.documents import REMOVED
from octoc.compiler.model.located import (
    KEY,
    MANIFEST,
    MARKDOWN,
    OWN_NAME,
    Lines,
    Located,
    NamesByComma,
    NamesBySpace,
    Stripped,
)
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


@attrs.frozen(kw_only=True)
class TwoForms:
    place: Place
    name: str
    title: Stripped = attrs.field(default="", metadata={MARKDOWN: ("title",)})
    depth: int = attrs.field(default=3, metadata={MANIFEST: ("roles", 0, "depth")})


@attrs.frozen(kw_only=True)
class Names:
    comma: NamesByComma = ()
    space: NamesBySpace = ()
    lines: Lines = ()


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


def test_a_form_reads_its_own_fields_alone() -> None:
    """A file with the key of another form's field leaves that field at its default, and given values win."""
    values = {"name": "other", "title": " T ", "roles": [{"depth": 5}]}
    assert structured(TwoForms, values, FILE, MARKDOWN, name="a") == TwoForms(name="a", place=FILE, title="T")
    assert structured(TwoForms, values, FILE, MANIFEST, name="a") == TwoForms(name="a", place=FILE, depth=5)


def test_null_is_as_absent() -> None:
    """A key without a value leaves its field at the default."""
    assert structured(TwoForms, {"title": None}, FILE, MARKDOWN, name="a").title == ""


def test_a_table_of_tables_is_a_tuple_of_models() -> None:
    """The whole of a file may be a table whose entries are the models."""
    assert [entry.name for entry in structured(tuple[Entry, ...], {"a": {"size": 1}, "b": {"size": 2}}, FILE)] == [
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    "field, text, parts",
    [
        ("comma", "Read, Bash(git log:*, x)", ["Read", "Bash(git log:*, x)"]),
        ("space", "[git, fetch]", ["git", "fetch"]),
        ("lines", "a b\n\n c\n", ["a b", "c"]),
    ],
)
def test_names_in_one_string_have_their_places(field: str, text: str, parts: list[str]) -> None:
    """A string with several names is a list of them, each with its range in the string; a list is one as well."""
    names = getattr(structured(Names, {field: text}, FILE), field)
    assert [name.value for name in names] == parts
    assert [text[slice(*name.place.within)] for name in names] == parts
    listed = getattr(structured(Names, {field: parts}, FILE), field)
    assert [(name.value, name.place) for name in listed] == [
        (part, FILE.child(field, index)) for index, part in enumerate(parts)
    ]
