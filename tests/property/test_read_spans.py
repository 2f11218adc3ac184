"""The law of positions: the text at each span reads back as the value it stands for."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import tomlkit
import yaml
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.read.frontmatter import read_front_matter
from octoc.compiler.read.json import read_json
from octoc.compiler.read.spans import SpanIndex, locate
from octoc.compiler.read.toml import read_toml
from octoc.compiler.read.yaml import parse_yaml
from octoc.diagnostics.model import DiagnosticSink, KeyPath, Place, Span

# Text of every kind but half surrogate pairs, which no UTF-8 file can hold.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
KEYS = st.one_of(st.text("abc_-", min_size=1, max_size=4), TEXT)
NUMBERS = st.one_of(st.integers(-(2**80), 2**80), st.floats(allow_nan=False, allow_infinity=False))


def trees(scalars: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of `scalars`, lists and objects inside each other."""
    inner = st.recursive(
        scalars,
        lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(keys, below, max_size=4)),
        max_leaves=12,
    )
    return st.dictionaries(keys, inner, min_size=1, max_size=4)


def at(text: str, span: Span) -> str:
    """Return the text that a span covers."""
    assert span.line > 0, "the span is of the whole file"
    lines = text.split("\n")
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    first, last = lines[span.line - 1][span.column - 1 :], lines[span.end_line - 1][: span.end_column - 1]
    return "\n".join([first, *lines[span.line : span.end_line - 1], last])


def paths(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield the key path and the value of everything below `value`."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key), inner
        yield from paths(inner, (*path, key))


@given(trees(st.one_of(st.none(), st.booleans(), NUMBERS, TEXT), KEYS), st.sampled_from([None, 0, 2]), st.booleans())
def test_json_reads_back(tree: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    """Every value and every key of a JSON file is what its span says."""
    text = json.dumps(tree, indent=indent, ensure_ascii=ascii_only)
    sink = DiagnosticSink()
    assert read_json(text, Place(file="a.json"), sink) == tree
    assert sink.diagnostics == ()
    index = SpanIndex(lambda _: text)
    for path, value in paths(tree):
        place = Place(file="a.json", path=path)
        assert json.loads(at(text, index(place))) == value
        if isinstance(path[-1], str):
            assert json.loads(at(text, index(place.key()))) == path[-1]


@given(trees(st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), NUMBERS, TEXT), KEYS))
def test_toml_reads_back(tree: dict[str, Any]) -> None:
    """Every value of a TOML file that a writer made is what its span says, also in arrays and inline tables."""
    text = tomlkit.dumps(tree)
    written = tomllib.loads(text)
    sink = DiagnosticSink()
    assert read_toml(text, Place(file="a.toml"), sink) == written
    index = SpanIndex(lambda _: text)
    for path, value in paths(written):
        found = at(text, index(Place(file="a.toml", path=path)))
        if found.startswith("[") and found.endswith("]") and not isinstance(value, list):
            assert isinstance(value, dict), "only a table is placed at its header"
        elif found.startswith("[[") and isinstance(value, list) and value and isinstance(value[0], dict):
            assert tomllib.loads(found), "an array of tables is placed at its first header"
        elif not isinstance(value, dict) or found.startswith("{"):
            assert tomllib.loads(f"v = {found}")["v"] == value
        key = at(text, index(Place(file="a.toml", path=path).key()))
        if isinstance(path[-1], str):
            assert tomllib.loads(f"{key} = 0") == {path[-1]: 0}


PLAIN_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff\ufffe\uffff")
)
YAML_SCALARS = st.one_of(st.booleans(), st.none(), st.integers(-(10**18), 10**18), PLAIN_TEXT)


@given(
    trees(YAML_SCALARS, st.from_regex(r"[a-z][a-z_-]{0,6}", fullmatch=True)),
    st.sampled_from([None, False, True]),
    st.sampled_from([None, '"', "'", "|", ">"]),
    st.sampled_from([20, 1000]),
)
def test_front_matter_reads_back(tree: dict[str, Any], flow: bool | None, style: str | None, width: int) -> None:
    """Every value of front matter is what its span says, in each of YAML's styles."""
    dumped = yaml.safe_dump(tree, default_flow_style=flow, default_style=style, allow_unicode=True, width=width)
    if "!!" in dumped or "\n---" in f"\n{dumped}":
        return
    text = f"---\n{dumped}---\nBody\n"
    sink = DiagnosticSink()
    found = read_front_matter(text, Place(file="a.md"), sink)
    assert found is not None, sink.diagnostics
    assert found.body == "Body\n"
    index = SpanIndex(lambda _: text)
    for path, value in paths(found.values):
        place = Place(file="a.md", path=path)
        written = at(text, index(place))
        if not isinstance(value, (dict, list)):
            indented = "\n".join(["v: " + written.split("\n")[0], *("  " + line for line in written.split("\n")[1:])])
            read_back = parse_yaml(indented).value["v"]
            assert (read_back.rstrip("\n") if isinstance(read_back, str) else read_back) == (
                value.rstrip("\n") if isinstance(value, str) else value
            )
        if isinstance(path[-1], str):
            assert parse_yaml(at(text, index(place.key()))).value in (path[-1], True, False, None)


@given(TEXT, st.data(), st.booleans())
def test_a_range_inside_a_json_string_is_those_characters(value: str, data: st.DataObject, ascii_only: bool) -> None:
    """A range of a string's characters is found through its escapes."""
    low = data.draw(st.integers(0, len(value)))
    high = data.draw(st.integers(low, len(value)))
    text = json.dumps({"k": value}, ensure_ascii=ascii_only)
    span = locate(text, "json", Place(file="a.json", path=("k",), within=(low, high)))
    assert json.loads(f'"{at(text, span)}"') == value[low:high]


TOML_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)


@pytest.mark.parametrize("quote", ['"""', "'''"])
@given(st.lists(TOML_TEXT, min_size=1, max_size=4), st.data())
def test_a_range_inside_a_toml_string_of_several_lines(quote: str, lines: list[str], data: st.DataObject) -> None:
    """A range of a multi-line string's characters is found on its lines."""
    value = "\n".join(lines).replace("\\", "/").replace(quote[0], "_")
    text = f"k = {quote}\n{value}{quote}\n"
    assert tomllib.loads(text) == {"k": value}
    low = data.draw(st.integers(0, len(value)))
    high = data.draw(st.integers(low, len(value)))
    span = locate(text, "toml", Place(file="a.toml", path=("k",), within=(low, high)))
    assert at(text, span) == value[low:high]
