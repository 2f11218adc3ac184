"""TOML: values, headers of the leading comments, and findings with their places."""

import tomllib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.read.toml import leading_headers, read_toml
from octoc.diagnostics.model import DiagnosticSink, Place

PLACE = Place(file="a.toml")
SinkFor = Callable[[str], DiagnosticSink]
Findings = Callable[[DiagnosticSink], list[str]]

BROKEN = [
    (
        "a = 1\nb = \n",
        "OCT106 2:5-2:6 not TOML: expected a string, a number, `true`, `false`, a date, an array or an inline table",
    ),
    ("a = 1\nb\n", "OCT106 2:2-2:3 not TOML: expected `=` after a key in a key/value pair"),
    ('a = """x', "OCT106 1:5-1:6 not TOML: unterminated string"),
    ("a = 1\nb = 2\na = 3\n", "OCT109 3:1-3:2 key `a` is there twice [1:1 it is here first]"),
    ("[a]\nx = 1\n[b]\n[a]\ny = 1\n", "OCT109 4:2-4:3 key `a` is there twice [1:2 it is here first]"),
    ("[[s]]\nn = 1\n[[s]]\nn = 2\nn = 3\n", "OCT109 5:1-5:2 key `n` is there twice [4:1 it is here first]"),
    ("a = " + "[" * 100_000, "OCT110 0:0-0:0 more than 64 lists and objects inside each other"),
    ("a" + ".a" * 100_000 + " = 1", "OCT110 0:0-0:0 a key of more than 200 parts"),
    ("a = " + "9" * 5000, "OCT106 0:0-0:0 a number has too many digits"),
]


@pytest.mark.parametrize("text,expected", BROKEN)
def test_a_syntax_error_is_reported_at_its_place(
    text: str, expected: str, sink_for: SinkFor, findings: Findings
) -> None:
    """A file that is not TOML gives one finding, at the place, with what was expected."""
    sink = sink_for(text)
    assert read_toml(text, PLACE, sink) is None
    assert findings(sink) == [expected]


def test_a_number_that_is_not_finite_is_left_out(sink_for: SinkFor, findings: Findings) -> None:
    """`nan` and `inf` are TOML, and no values that a bundle can hold."""
    text = "[[roles]]\ntemperature = nan\ntop_p = 0.5\n"
    sink = sink_for(text)
    assert read_toml(text, PLACE, sink) == {"roles": [{"top_p": 0.5}]}
    assert findings(sink) == ["OCT111 2:15-2:18 expected a finite number that fits a 64-bit float"]


def test_headers_are_those_above_the_first_key() -> None:
    """`# Key: value` lines of the leading comments are headers; the first of a key counts, later comments do not."""
    text = "# capabilities/git/git.toml\n# Title: Git\n\n# Title: other\n#Auth: no\n# https://x.org\na = 1\n# Note: x\n"
    assert leading_headers(text) == {"Title": "Git"}


PIECES = st.sampled_from(
    [
        '"',
        '""',
        '"""',
        "'",
        "'''",
        "\\",
        "\\\\",
        "\\n",
        "\n",
        "#",
        "a",
        " = ",
        "k",
        "[",
        "]",
        "\t",
        "é",
        "\r",
        "\x01",
        ",",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_the_fast_way_reads_what_tomllib_reads(noise: str) -> None:
    """However quotes, comments and escapes mix, values are tomllib's own, and what it refuses is refused."""
    for text in (f'k1 = """{noise}"""\n', f"k1 = {noise}\n", f"k1 = '''{noise}'''\nk2 = \"\"\"x\n\"\"\"\n", noise):
        try:
            expected = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            expected = None
        assert read_toml(text, PLACE, DiagnosticSink()) == expected
