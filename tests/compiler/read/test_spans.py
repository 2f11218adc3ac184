"""From a place to its span: keys, values, parts of strings, and what to point at when something is missing."""

from typing import Any

import pytest

from octoc.compiler.read.spans import SpanIndex, locate
from octoc.diagnostics.model import Place, Span

TOML = """\
# Title: é
top = 1
"quoted key".inner = 'x'
[[mcp.servers]]
name = "one"
env = { "A.B" = "😀v", C = "w" }
[[mcp.servers]]
name = "two"
args = [
  "a", # first
  "b\\tc\\u00e9d",
]
[[mcp.servers.sub]]
deep = true
[roles]
[roles.mcp]
system = \"\"\"
line one
  line \\
     two\"\"\"
"""
JSON = """\
{ // tools
  "mcpServers": {
    "é": {"args": ["-y", "x\\n\\ud83d\\ude00y",], "n": 1e+16},
  }
}
"""
MD = """\
---
name: one
tools: [Read, "Gr\\tep", 'it''s']
rules:
  - match(a)
  - k: v
text: |-
  first
    second
empty:
description: Use: this
  and this
---
Body
"""


def where(kind: str, *path: str | int, **more: Any) -> str:
    """Return the span of a place as `line:column-line:column`, `file` for the file as a whole."""
    text = {"toml": TOML, "json": JSON, "md": MD}[kind]
    span = locate(text, kind, Place(file="f", path=path, **more))
    return f"{span.line}:{span.column}-{span.end_line}:{span.end_column}" if span.line else "file"


TOML_PLACES = [
    (("top",), "2:7-2:8"),
    (("quoted key", "inner"), "3:22-3:25"),
    (("mcp", "servers"), "4:1-4:16"),
    (("mcp", "servers", 0, "name"), "5:8-5:13"),
    (("mcp", "servers", 0, "env"), "6:7-6:32"),
    (("mcp", "servers", 0, "env", "A.B"), "6:17-6:21"),
    (("mcp", "servers", 0, "env", "C"), "6:27-6:30"),
    (("mcp", "servers", 1), "7:1-7:16"),
    (("mcp", "servers", 1, "args", 1), "11:3-11:16"),
    (("mcp", "servers", 1, "sub", 0, "deep"), "14:8-14:12"),
    (("roles",), "15:1-15:8"),
    (("roles", "mcp"), "16:1-16:12"),
]
JSON_PLACES = [
    (("mcpServers", "é", "args", 0), "3:20-3:24"),
    (("mcpServers", "é", "args"), "3:19-3:46"),
    (("mcpServers", "é", "n"), "3:53-3:58"),
]
MD_PLACES = [
    (("name",), "2:7-2:10"),
    (("tools", 1), "3:15-3:23"),
    (("tools", 2), "3:25-3:32"),
    (("tools",), "3:8-3:33"),
    (("rules", 0), "5:5-5:13"),
    (("rules", 1, "k"), "6:8-6:9"),
    (("rules",), "5:3-6:9"),
    (("text",), "7:7-9:11"),
    (("empty",), "10:7-10:7"),
    (("description",), "11:14-12:11"),
]


@pytest.mark.parametrize(
    "kind,path,expected",
    [("toml", *each) for each in TOML_PLACES]
    + [("json", *each) for each in JSON_PLACES]
    + [("md", *each) for each in MD_PLACES],
)
def test_a_value_is_where_it_is_written(kind: str, path: tuple[str | int, ...], expected: str) -> None:
    """The span of a value is its text, or its header where a table has one."""
    assert where(kind, *path) == expected


KEYS = [
    ("toml", ("quoted key", "inner"), "3:14-3:19"),
    ("toml", ("quoted key",), "3:1-3:13"),
    ("toml", ("mcp", "servers", 0, "env", "A.B"), "6:9-6:14"),
    ("toml", ("mcp", "servers", 1), "7:7-7:14"),
    ("toml", ("roles", "mcp"), "16:8-16:11"),
    ("json", ("mcpServers", "é"), "3:5-3:8"),
    ("md", ("tools",), "3:1-3:6"),
    ("md", ("rules", 1, "k"), "6:5-6:6"),
    ("md", ("rules", 0), "5:5-5:13"),
]


@pytest.mark.parametrize("kind,path,expected", KEYS)
def test_the_key_of_a_value_has_its_own_place(kind: str, path: tuple[str | int, ...], expected: str) -> None:
    """A place of part `key` is the key as written; an element of a list has none and is itself."""
    assert where(kind, *path, part="key") == expected


MISSING = [
    ("toml", ("absent",), "file"),
    ("toml", ("mcp", "servers", 1, "type"), "7:1-7:16"),
    ("toml", ("mcp", "servers", 0, "env", "D", "x"), "6:7-6:32"),
    ("toml", ("roles", "absent"), "15:1-15:8"),
    ("json", ("absent",), "1:1-1:2"),
    ("json", ("mcpServers", "é", "command"), "3:5-3:8"),
    ("md", ("absent",), "1:1-1:4"),
    ("md", ("rules", 7), "4:1-4:6"),
    ("md", ("name", "x"), "2:1-2:5"),
]


@pytest.mark.parametrize("kind,path,expected", MISSING)
def test_what_is_missing_points_at_what_lacks_it(kind: str, path: tuple[str | int, ...], expected: str) -> None:
    """A place that does not exist is the header, key or bracket of the nearest thing around it."""
    assert where(kind, *path) == expected


PARTS = [
    ("toml", ("mcp", "servers", 1, "args", 1), (1, 3), "11:5-11:8"),
    ("toml", ("mcp", "servers", 1, "args", 1), (3, 4), "11:8-11:14"),
    ("toml", ("mcp", "servers", 0, "env", "A.B"), (1, 2), "6:19-6:20"),
    ("toml", ("roles", "mcp", "system"), (5, 8), "18:6-18:9"),
    ("toml", ("roles", "mcp", "system"), (16, 19), "20:6-20:9"),
    ("json", ("mcpServers", "é", "args", 1), (2, 3), "3:30-3:42"),
    ("json", ("mcpServers", "é", "args", 1), (3, 99), "3:42-3:43"),
    ("md", ("tools", 1), (2, 3), "3:18-3:20"),
    ("md", ("tools", 2), (3, 4), "3:30-3:31"),
    ("md", ("text",), (8, 14), "9:5-9:11"),
    ("md", ("description",), (10, 13), "12:3-12:6"),
]


@pytest.mark.parametrize("kind,path,within,expected", PARTS)
def test_a_part_of_a_string_is_found_through_escapes_and_lines(
    kind: str, path: tuple[str | int, ...], within: tuple[int, int], expected: str
) -> None:
    """A range of characters is the text that writes them."""
    assert where(kind, *path, within=within) == expected


def test_a_file_is_parsed_once_and_only_when_a_place_inside_is_asked_for() -> None:
    """Places of whole files need no text; all others of one file share one reading."""
    asked: list[str] = []

    def read_text(display: str) -> str:
        asked.append(display)
        return TOML

    index = SpanIndex(read_text)
    assert index(Place(file="a.toml")) == Span(file="a.toml")
    assert asked == []
    for _ in range(3):
        assert index(Place(file="a.toml", path=("top",))).line == 2
    assert asked == ["a.toml"]


@pytest.mark.parametrize(
    "file,text", [("a.toml", None), ("a.sh", "x"), ("a.md", "no front matter"), ("a.md", "---\n[\n---\n")]
)
def test_a_text_without_positions_is_placed_as_a_whole(file: str, text: str | None) -> None:
    """Where nothing can be parsed the span is the file."""
    assert SpanIndex(lambda _: text)(Place(file=file, path=("a",))) == Span(file=file)


def test_positions_hold_as_far_as_a_broken_text_goes() -> None:
    """What stands before a mistake still has its place."""
    assert locate('{"a": 1, "b" 2', "json", Place(file="f", path=("a",))).column == 7
    assert locate("a = 1\n[[[\n", "toml", Place(file="f", path=("a",))).column == 5
