import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.model.settings import LimitSettings
from octoc.compiler.pin.packages import Package
from octoc.compiler.pin.snapshots import dump_of, listing_of_snapshot, load_dump, snapshot_file_name, snapshot_text
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.results import ListedTool, ServerListing

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
# What UTF-8 cannot hold is replaced on no way to a file: a lone surrogate stays an escape.
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
TOOLS = st.lists(
    st.tuples(TEXT.filter(str.strip), TEXT, st.dictionaries(st.text(max_size=5), JSON, max_size=3)),
    max_size=4,
    unique_by=lambda tool: tool[0],
)


def listing_of(tools: list[tuple[str, str, dict[str, Any]]]) -> ServerListing:
    """A listing of tools with a name, a description and a schema."""
    return ServerListing(
        server_info={"name": "clock", "version": "1"},
        protocol_version="2026-07-28",
        instructions="Ünïcode\nlines",
        tools=tuple(
            ListedTool(name=name, description=text, wire={"name": name, "description": text, "inputSchema": schema})
            for name, text, schema in tools
        ),
    )


def dumped(value: Any) -> tuple[Any, list[str]]:
    """What a dump is read as, and the codes that were reported."""
    sink = DiagnosticSink()
    found = dump_of(value, Place(file="dump.json"), sink)
    return found, [diagnostic.rule.code for diagnostic in sink.diagnostics]


@given(TOOLS)
def test_a_snapshot_reads_back_as_what_was_written(tools: list[tuple[str, str, dict[str, Any]]]) -> None:
    """A listing survives the way through the text of its file."""
    listing = listing_of(tools)
    text = snapshot_text(server="clock", definition="d", package=None, listing=listing)
    assert listing_of_snapshot(text) == listing


def test_a_snapshots_text_does_not_depend_on_the_order_of_keys() -> None:
    """The text has sorted keys, an indent of one, and a newline at its end; the tools keep the server's order."""
    one = listing_of([("b", "", {"type": "object", "a": 1}), ("a", "", {})])
    other = listing_of([("b", "", {"a": 1, "type": "object"}), ("a", "", {})])
    texts = [snapshot_text(server="s", definition="d", package="p==1", listing=listing) for listing in (one, other)]
    assert texts[0] == texts[1]
    assert texts[0].startswith('{\n "definition": "d",\n "instructions": "Ünïcode\\nlines",\n')
    assert texts[0].endswith("\n}\n")
    assert [tool["name"] for tool in json.loads(texts[0])["tools"]] == ["b", "a"]


@pytest.mark.parametrize("name", ["time", "a", "my-server_2.x", "postgres-readonly"])
def test_a_plain_name_is_its_file_name(name: str) -> None:
    """A name of lower-case letters, digits, `-`, `_` and `.` is kept."""
    assert snapshot_file_name(name) == f"{name}.json"


@pytest.mark.parametrize(
    "name", ["GitHub", "a/b", "../etc", "con", "nul.x", "", ".hidden", "x.", "日本", "a" * 300, "a b"]
)
def test_another_name_loses_what_is_unsafe(name: str) -> None:
    """A name that some system cannot store, or folds with another, becomes plain, with a digest."""
    assert snapshot_file_name(name).startswith(
        ("github-", "a-b-", "etc-", "con-", "nul-x-", "server-", "hidden-", "x-", "aaa")
    )
    assert len(snapshot_file_name(name)) <= 80


@given(st.lists(st.text(alphabet="aAbB./ -_0é", max_size=12) | st.text(max_size=20), unique=True, max_size=30))
def test_no_two_names_share_a_file(names: list[str]) -> None:
    """Different names have different files, also where case does not count, and no file name leaves its folder."""
    files = {snapshot_file_name(name).lower() for name in names}
    assert len(files) == len(names)
    assert all("/" not in file and "\\" not in file and not file.startswith(".") for file in files)


def test_a_name_cannot_take_another_ones_file() -> None:
    """A plain name that looks like the file of a lossy one gets a file of its own."""
    taken = snapshot_file_name("GitHub").removesuffix(".json")
    assert snapshot_file_name(taken) != snapshot_file_name("GitHub")


def test_every_recorded_dump_is_read(realworld: Path) -> None:
    """Each real dump is read without a diagnostic, with all its tools and its package, and makes a snapshot."""
    paths = sorted((realworld / "tools").glob("*.json"))
    assert paths
    for path in paths:
        sink = DiagnosticSink()
        dump = load_dump(path, path.name, LimitSettings(), sink)
        raw = json.loads(path.read_text(encoding="utf-8"))
        assert sink.diagnostics == ()
        assert dump is not None
        assert dump.package == Package(registry=raw["registry"], name=raw["package"], version=raw["version"])
        assert [tool.name for tool in dump.listing.tools] == [tool["name"] for tool in raw["tools"]]
        text = snapshot_text(server="s", definition="d", package=None, listing=dump.listing)
        assert listing_of_snapshot(text) == dump.listing


SHAPES = [
    {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]},
    [{"name": "a", "inputSchema": {"type": "object"}}],
    {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}},
    {
        "tools": [{"name": "a", "inputSchema": {"type": "object"}, "title": None}],
        "instructions": "",
        "serverInfo": None,
    },
]


@pytest.mark.parametrize("value", SHAPES)
def test_bare_dumps_are_read_too(value: Any) -> None:
    """An object with `tools`, the bare list and the server's whole answer give the same listing."""
    dump, codes = dumped(value)
    assert codes == []
    wire = {"name": "a", "inputSchema": {"type": "object"}}
    assert dump.listing.tools == (ListedTool(name="a", description="", wire=wire),)
    assert dump.package is None


BAD_TOOLS = [
    (7, "is not an object"),
    ({}, "has no name"),
    ({"name": " "}, "has no name"),
    ({"name": "ok"}, "has the name `ok` of another one before it"),
    ({"name": "b", "description": 7}, "has the name `b` and a description that is not text"),
    ({"name": "b", "inputSchema": []}, "has the name `b` and an `inputSchema` that is not an object"),
]


@pytest.mark.parametrize("tool,why", BAD_TOOLS)
def test_an_unusable_tool_is_left_out_and_reported(tool: Any, why: str) -> None:
    """A tool without a usable name, description or schema is reported by its place, and the others stay."""
    sink = DiagnosticSink()
    dump = dump_of({"tools": [{"name": "ok"}, tool, {"name": "last"}]}, Place(file="dump.json"), sink)
    assert dump is not None
    assert [kept.name for kept in dump.listing.tools] == ["ok", "last"]
    (found,) = sink.diagnostics
    assert found.rule.code == "OCT541"
    assert found.message == f"tool 2 of `dump.json` {why}"


@given(JSON)
def test_any_json_is_read_or_reported(value: Any) -> None:
    """Whatever JSON is given, there is a dump or a diagnostic, never an exception."""
    dump, codes = dumped(value)
    assert (dump is None) == ("OCT540" in codes)


FILES = [
    (b'{"tools": ', "OCT107"),
    (b"", "OCT105"),
    (b"\xff\xfe\x00", "OCT103"),
    (b"\x00\x01", "OCT104"),
    (b'[{"name": "a"}', "OCT540"),
    (b"[" * 100_000, "OCT540"),
    (b'{"a": 1}', "OCT540"),
    (b'"text"', "OCT107"),
]


@pytest.mark.parametrize("data,code", FILES)
def test_a_file_that_is_no_dump_is_reported(tmp_path: Path, data: bytes, code: str) -> None:
    """Truncated, empty, binary, wide, deep and foreign files are each a diagnostic."""
    path = tmp_path / "dump.json"
    path.write_bytes(data)
    sink = DiagnosticSink()
    assert load_dump(path, "dump.json", LimitSettings(), sink) is None
    assert [found.rule.code for found in sink.diagnostics] == [code]


def test_a_dump_over_the_limit_and_a_missing_one_are_reported(tmp_path: Path) -> None:
    """The limit of snapshots holds for dumps, and a file that is not there is a diagnostic."""
    path = tmp_path / "dump.json"
    path.write_bytes(b'{"tools": []}' + b" " * 100)
    sink = DiagnosticSink()
    assert load_dump(path, "dump.json", attrs.evolve(LimitSettings(), max_snapshot_bytes=64), sink) is None
    assert load_dump(tmp_path / "none.json", "none.json", LimitSettings(), sink) is None
    assert [found.rule.code for found in sink.diagnostics] == ["OCT102", "OCT101"]


def test_a_dump_of_too_many_elements_is_reported_before_it_is_parsed(tmp_path: Path) -> None:
    """A dump is refused by the elements in its bytes, and the finding names the key that raises the limit."""
    path = tmp_path / "dump.json"
    path.write_bytes(b'{"tools": [' + b"[]," * 50 + b"[]]}")
    sink = DiagnosticSink()
    assert load_dump(path, "dump.json", attrs.evolve(LimitSettings(), max_snapshot_elements=100), sink) is None
    (found,) = sink.diagnostics
    assert (found.rule.code, found.message) == ("OCT102", "`dump.json` has more than 100 JSON elements")
    assert "max_snapshot_elements" in (found.help or "")
