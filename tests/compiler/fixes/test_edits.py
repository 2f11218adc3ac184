"""Edits of a fix: a replacement stays within its quotes, and unexpected text stays unchanged."""

import json
import tomllib
from collections.abc import Callable
from typing import Any

import attrs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.fixes.edits import inserted_before, removed, renamed, replaced
from octoc.compiler.read.spans import SpanIndex
from octoc.diagnostics.model import Fix, Place

READ: dict[str, Callable[[str], Any]] = {
    "f.toml": tomllib.loads,
    "f.json": json.loads,
    "f.md": lambda text: yaml.safe_load(text.split("---\n")[1]),
}
PLAIN = st.text(alphabet="abcXYZ09_/.-", min_size=1, max_size=12).filter(lambda text: text[0].isalpha())


def after(text: str, fix: Fix | None) -> str:
    """Return the text with a fix of one line's edits applied."""
    assert fix is not None
    lines = text.split("\n")
    for edit in sorted(fix.edits, key=lambda edit: edit.span, reverse=True):
        line = lines[edit.span.line - 1]
        lines[edit.span.line - 1] = line[: edit.span.column - 1] + edit.text + line[edit.span.end_column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "file, text",
    [
        ("f.toml", "a = ['x', '{old}'] # {old}\n"),
        ("f.toml", 'a = [\n  "x",\n  "{old}",\n]\n'),
        ("f.json", '{{"a": ["x",\t"{old}"]}}'),
        ("f.md", "---\na: [x, {old}]\n---\n{old}\n"),
        ("f.md", "---\na:\n  - x\n  - '{old}'\n---\n"),
    ],
)
@given(old=PLAIN, new=PLAIN)
def test_a_value_is_replaced(file: str, text: str, old: str, new: str) -> None:
    """Read again, the value is the new one, and all else in the file is as before."""
    before = text.format(old=old)
    fix = replaced(Place(file=file, path=("a", 1)), old, new, "t")(SpanIndex({file: before}.get))
    changed = after(before, fix)
    assert READ[file](changed)["a"] == ["x", new]
    head, _, tail = text.partition("{old}")
    assert changed == head.format() + new + tail.format(old=old)


@pytest.mark.parametrize(
    "file, text",
    [("f.toml", "evn = 1\n"), ("f.toml", '"evn" = 1\n'), ("f.json", '{"evn": 1}'), ("f.md", "---\nevn: 1\n---\n")],
)
def test_a_key_is_renamed(file: str, text: str) -> None:
    """A key keeps its quotes, and its value."""
    make = renamed(Place(file=file, path=("evn",), part="key"), "evn", ["env", "args"])
    assert make is not None
    assert READ[file](after(text, make(SpanIndex({file: text}.get)))) == {"env": 1}


def test_no_near_name_is_no_fix() -> None:
    """Where nothing, or more than one name, is meant there is nothing to apply."""
    assert renamed(Place(file="f.toml", path=("a",)), "evn", ["args"]) is None


@pytest.mark.parametrize(
    "file, text",
    [
        ("f.json", '{"a": "ol\\u0064"}'),
        ("f.toml", 'a = """old"""\n'),
        ("f.toml", 'a = """\nold"""\n'),
        ("f.toml", 'a = " old"\n'),
        ("f.md", "---\na: |\n  old\n---\n"),
        ("f.toml", "b = 1\n"),
    ],
)
def test_what_is_not_as_expected_is_left_alone(file: str, text: str) -> None:
    """Escapes, several lines, other quotes, white space, and a value that is not there: no edit is guessed."""
    assert replaced(Place(file=file, path=("a",)), "old", "new", "t")(SpanIndex({file: text}.get)) is None


@pytest.mark.parametrize("file, new", [("f.toml", 'a"b'), ("f.json", "a\\b"), ("f.md", "${A}"), ("f.json", "a\nb")])
def test_what_would_need_quotes_of_its_own_is_not_written(file: str, new: str) -> None:
    """A text that needs escapes in some kind of string is not used as a replacement."""
    text = {"f.toml": "a = 'old'\n", "f.json": '{"a": "old"}', "f.md": "---\na: old\n---\n"}[file]
    assert replaced(Place(file=file, path=("a",)), "old", new, "t")(SpanIndex({file: text}.get)) is None


def test_parts_are_removed_through_escapes() -> None:
    """White space that is written as an escape goes as a whole."""
    text = '{"a": "\\t x \\u0020"}'
    whole = Place(file="f.json", path=("a",))
    parts = [attrs.evolve(whole, within=(0, 2)), attrs.evolve(whole, within=(3, 5))]
    assert json.loads(after(text, removed(whole, parts, "t")(SpanIndex({"f.json": text}.get)))) == {"a": "x"}


def test_a_value_without_quotes_is_not_removed() -> None:
    """A number has no parts, and is not taken for one."""
    whole = Place(file="f.json", path=("a",))
    fix = removed(whole, [attrs.evolve(whole, within=(0, 1))], "t")(SpanIndex({"f.json": '{"a": 12}'}.get))
    assert fix is None


def test_text_is_inserted_before_a_key() -> None:
    """Nothing is replaced; a file without positions has no place to insert at."""
    make = inserted_before(Place(file="f.json", path=("url",), part="key"), '"type": "http", ', "t")
    text = '{\n\t"url": "u"\n}'
    assert json.loads(after(text, make(SpanIndex({"f.json": text}.get)))) == {"type": "http", "url": "u"}
    assert make(SpanIndex({"f.json": None}.get)) is None
