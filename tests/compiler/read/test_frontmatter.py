"""Front matter: plain values without surprises, the lenient second reading, and what is refused."""

from collections.abc import Callable

import pytest

from octoc.compiler.read.fences import LateStart, late_start
from octoc.compiler.read.frontmatter import read_front_matter
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity

PLACE = Place(file="a.md")
SinkFor = Callable[[str], DiagnosticSink]
Findings = Callable[[DiagnosticSink], list[str]]

YAML = "front matter is not plain YAML: "
BROKEN = [
    ("# Title\n", "OCT112 1:1-1:8 expected `---` as line 1"),
    ("\n---\na: 1\n---\n", "OCT112 1:1-1:1 expected `---` as line 1"),
    ("----\na: 1\n---\n", "OCT112 1:1-1:5 expected `---` as line 1"),
    ("---\na: 1\n", "OCT113 1:1-1:4 front matter starts here and never ends, expected a second line `---`"),
    ("---\n---\n", "OCT114 2:1-2:2 front matter is empty, expected `key: value` lines"),
    ("---\n# only a comment\n---\n", "OCT114 2:1-2:2 front matter is empty, expected `key: value` lines"),
    ("---\nwords\n---\n", "OCT114 2:1-2:2 expected `key: value` lines as front matter"),
    ("---\nb: 1\na: &x [1]\nc: *y\n---\n", f"OCT114 4:4-4:5 {YAML}alias `*y` has no anchor `&y` before it"),
    (
        "---\na: !!python/name:os.system x\n---\n",
        f"OCT114 2:4-2:5 {YAML}tag `tag:yaml.org,2002:python/name:os.system` is not read",
    ),
    ("---\n? [a]\n: 1\n---\n", f"OCT114 2:3-2:4 {YAML}a list or an object stands where a key is expected"),
    ("---\na: \x01\n---\n", f"OCT114 2:4-2:5 {YAML}character `U+0001` may not be in YAML"),
    ('---\nb: 1\na: "x\n---\n', f"OCT114 3:4-3:5 {YAML}found unexpected end of stream while scanning a quoted scalar"),
    ("---\na: " + "[" * 100_000 + "\n---\n", "OCT110 2:67-2:68 more than 64 lists and objects inside each other"),
]


@pytest.mark.parametrize("text,expected", BROKEN)
def test_what_is_no_front_matter_is_reported_with_its_place(
    text: str, expected: str, sink_for: SinkFor, findings: Findings
) -> None:
    """Front matter that cannot be read gives one finding, at the place, with what was expected."""
    sink = sink_for(text)
    assert read_front_matter(text, PLACE, sink) is None
    assert findings(sink) == [expected]


INDENT = "write `hint: >-`, and indent the lines of the value that follow by two spaces"
ADVICE = [
    ("hint: [a, [b]-c.md]", "3:14", "put the whole value of `hint` in double quotes"),
    ('hint: {a: "b"} c', "3:16", "put the whole value of `hint` in single quotes"),
    ('hint: "a", "b"', "3:10", "write `hint: >-`, and the value on the next line, indented by two spaces"),
    (
        "hint: one\n/two\n\nthree: 1",
        "4:1",
        INDENT,
    ),
    ("hint:\n  - text: one: two", "4:14", "put a value with `: `, or with quotes inside, in quotes"),
    ("hint: [a, b", "4:1", "close the value of `hint` with `]`"),
    ("hint: 'a", "3:7", None),
    ("hint: one two\ncolour:red", "4:1", "write a space after the colon: `colour: …`"),
    ('hint: "one"\n  - Read\n  - Grep', "4:1", "write the key of this list, such as `tools:`, on a line above it"),
]


@pytest.mark.parametrize("lines,at,advice", ADVICE)
def test_broken_front_matter_comes_with_the_key_to_correct(
    lines: str, at: str, advice: str | None, sink_for: SinkFor
) -> None:
    """The help names the first key whose value is not YAML by itself, and how to write the value."""
    text = f"---\nname: a\n{lines}\n---\n"
    sink = sink_for(text)
    assert read_front_matter(text, PLACE, sink) is None
    (found,) = sink.diagnostics
    assert found.span is not None
    assert (f"{found.span.line}:{found.span.column}", found.help) == (at, advice)


SCALARS = [
    ("on", "on"), ("yes", "yes"), ("No", "No"), ("true", True), ("False", False), ("12:30:45", "12:30:45"),
    ("2020-01-01", "2020-01-01"), ("1.5", 1.5), ("-3", -3), ("1e3", 1000.0), ("007", "007"), ("0x1f", "0x1f"),
    ("1_000", "1_000"), ("~", None), ("", None), (".inf", ".inf"), ("1e999", "1e999"), ("1.2.3", "1.2.3"),
    ("'5'", "5"), ("!!str 5", "5"), ("9" * 5000, "9" * 5000), ("a\u2028b", "a\u2028b"),
]  # fmt: skip


@pytest.mark.parametrize("written,value", SCALARS)
def test_plain_values_are_what_they_look_like(written: str, value: object, sink_for: SinkFor) -> None:
    """Only true, false, null and decimal numbers are other than text."""
    text = f"---\nk: {written}\n---\n"
    sink = sink_for(text)
    found = read_front_matter(text, PLACE, sink)
    assert sink.diagnostics == ()
    assert found is not None
    assert found.values == {"k": value}


def test_the_body_is_all_that_follows_the_closing_line(sink_for: SinkFor) -> None:
    """Later `---` lines belong to the body, and a closing line at the end leaves an empty one."""
    for text, body in (("---\na: 1\n--- \nText\n---\nmore", "Text\n---\nmore"), ("---\na: 1\n---", "")):
        found = read_front_matter(text, PLACE, sink_for(text))
        assert found is not None
        assert found.body == body


def test_plain_values_with_a_colon_are_read_as_text_and_reported(sink_for: SinkFor, findings: Findings) -> None:
    """A value that YAML refuses for its `: ` is the text of its lines; values around it are read as YAML."""
    text = "---\nname: x\ndescription: Use it so: <ex>user: hi</ex>\n  and: then\ntools: [a, b]\nnote: ends:\n---\nBody"
    sink = sink_for(text)
    found = read_front_matter(text, PLACE, sink)
    assert found is not None
    assert found.values == {
        "name": "x",
        "description": "Use it so: <ex>user: hi</ex> and: then",
        "tools": ["a", "b"],
        "note": "ends:",
    }
    assert findings(sink) == [
        "OCT115 3:14-4:12 the value of `description` holds `: ` and has no quotes, so YAML cannot read it",
        "OCT115 6:7-6:12 the value of `note` holds `: ` and has no quotes, so YAML cannot read it",
    ]
    assert {each.severity for each in sink.diagnostics} == {Severity.WARNING}


def test_a_duplicate_key_is_an_error_with_both_places(sink_for: SinkFor, findings: Findings) -> None:
    """The first of two equal keys counts, and the second is reported."""
    text = "---\nname: one\nhooks:\n  a: 1\n  a: 2\nname: two\n---\n"
    sink = sink_for(text)
    found = read_front_matter(text, PLACE, sink)
    assert found is not None
    assert found.values == {"name": "one", "hooks": {"a": 1}}
    assert findings(sink) == [
        "OCT109 5:3-5:4 key `a` is there twice [4:3 it is here first]",
        "OCT109 6:1-6:5 key `name` is there twice [2:1 it is here first]",
    ]


def test_many_comments_above_a_text_take_work_in_proportion_to_their_number() -> None:
    """A file of comments alone has no front matter, which is found without trying each way to end them."""
    assert late_start("<!-- a -->\n" * 50_000 + "# Title\n") is None
    assert late_start("<!-- a -->\n" * 3 + "---\nname: a\n---\n") == LateStart(line=4, above="comment")
