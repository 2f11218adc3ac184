"""JSON: strict values, relaxed reading of what people write, and findings that say what was expected."""

from collections.abc import Callable

import pytest

from octoc.compiler.inputs.mcp.cursor import CURSOR
from octoc.compiler.inputs.mcp.vscode import VSCODE
from octoc.compiler.read.json import read_json
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity

PLACE = Place(file="a.json")
SinkFor = Callable[[str], DiagnosticSink]
Findings = Callable[[DiagnosticSink], list[str]]

BROKEN = [
    ('{"a": 1,', "OCT107 1:9-1:10 not JSON: the file ends too early: expected a key in double quotes"),
    ('{"a": 1 "b": 2}', "OCT107 1:9-1:10 not JSON: expected `,` or the closing bracket"),
    ('{"a": [1\n, 2\n}', "OCT107 2:3-2:4 not JSON: expected `,` or the closing bracket"),
    ('{"a" 1}', "OCT107 1:6-1:7 not JSON: expected `:` after the key"),
    ("{'a': 1}", "OCT107 1:2-1:3 not JSON: expected a key in double quotes"),
    ('{\n  "a": "x\n}', "OCT107 2:10-2:11 not JSON: expected an escape such as `\\n` in place of a control character"),
    ('{"a": "x', 'OCT107 1:7-1:8 not JSON: expected a closing `"` for the string that starts here'),
    ('{"a": }', "OCT107 1:7-1:8 not JSON: expected a value"),
    ("{} {}", "OCT107 1:4-1:5 not JSON: expected the end of the file, found more text"),
    ("[1]", "OCT107 1:1-1:2 expected an object, `{…}`, as the whole file"),
    ("[" * 100_000, "OCT110 1:65-1:66 more than 64 lists and objects inside each other"),
]


@pytest.mark.parametrize("text,expected", BROKEN)
def test_a_syntax_error_is_reported_at_its_place(
    text: str, expected: str, sink_for: SinkFor, findings: Findings
) -> None:
    """A file that is not JSON gives one finding, at the place, with what was expected."""
    sink = sink_for(text)
    assert read_json(text, PLACE, sink) is None
    assert findings(sink) == [expected]


RELAXED = '{ // tools\n  "a": "http://x//y /* no */", /* two\nlines */ "b": [1, 2,],\n}'


def test_comments_and_trailing_commas_are_read_and_are_errors_in_strict_files(
    sink_for: SinkFor, findings: Findings
) -> None:
    """The first comment and the first trailing comma are reported; strings that look like comments are not."""
    sink = sink_for(RELAXED)
    assert read_json(RELAXED, PLACE, sink) == {"a": "http://x//y /* no */", "b": [1, 2]}
    assert findings(sink) == [
        "OCT108 1:3-1:11 a comment is not JSON: the client of this file refuses it",
        "OCT108 3:20-3:21 a trailing comma is not JSON: the client of this file refuses it",
    ]
    assert {each.severity for each in sink.diagnostics} == {Severity.ERROR}


def test_comments_are_information_where_the_client_reads_them(sink_for: SinkFor) -> None:
    """In files of VS Code and Cursor the same text is read without an error."""
    assert VSCODE.reads_comments
    assert CURSOR.reads_comments
    sink = sink_for(RELAXED)
    assert read_json(RELAXED, PLACE, sink, comments="allowed") == {"a": "http://x//y /* no */", "b": [1, 2]}
    assert {each.severity for each in sink.diagnostics} == {Severity.INFO}


def test_a_duplicate_key_is_an_error_with_both_places_and_the_others_stay(
    sink_for: SinkFor, findings: Findings
) -> None:
    """The first of two servers with one name counts, and other servers are read."""
    text = '{"mcpServers": {\n  "db": {"command": "one"},\n  "ok": {},\n  "db": {"command": "two"}\n}}'
    sink = sink_for(text)
    assert read_json(text, PLACE, sink) == {"mcpServers": {"db": {"command": "one"}, "ok": {}}}
    assert findings(sink) == ["OCT109 4:3-4:7 key `db` is there twice [2:3 it is here first]"]


def test_values_that_json_cannot_carry_are_left_out(sink_for: SinkFor, findings: Findings) -> None:
    """Numbers that are not finite and half surrogate pairs go, and elements of lists keep their index."""
    text = (
        '{"a": NaN, "b": [1e999, 1], "c": "\\ud800", "d": '
        + "9" * 5000
        + ', "ok": "\\ud83d\\ude00", "n": 1180591620717411303424}'
    )
    sink = sink_for(text)
    assert read_json(text, PLACE, sink) == {"b": [None, 1], "ok": "😀", "n": 2**70}
    assert [line.split()[0] for line in findings(sink)] == ["OCT111"] * 4


def test_what_is_nested_too_deep_is_left_out_and_the_rest_stays(sink_for: SinkFor, findings: Findings) -> None:
    """Depth is bounded per value, with a finding in place of a crash."""
    text = '{"deep": ' + '{"a":' * 100 + "1" + "}" * 100 + ', "ok": 1}'
    sink = sink_for(text)
    values = read_json(text, PLACE, sink)
    assert values is not None
    assert values["ok"] == 1
    assert [line.split()[0] for line in findings(sink)] == ["OCT110"]


def test_a_file_of_comments_alone_takes_linear_time(sink_for: SinkFor) -> None:
    """Two hundred thousand comments before a bracket are read: nothing is tried twice."""
    text = '{"a": [1,' + "/* */" * 200_000 + "]}"
    assert read_json(text, PLACE, sink_for(text)) == {"a": [1]}
