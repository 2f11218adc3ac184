"""`octoc show tool`: what one tool takes and costs, and which agents may call it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.cli.schema_rows import argument_rows
from octoc.testing import WorkspaceBuilder

Run = Callable[..., Any]


@pytest.mark.parametrize("name", ["time/convert_time", "convert_time", "time__convert_time"])
def test_a_tool_by_each_of_its_names(octoc: Run, built: Path, name: str) -> None:
    """`server/tool`, the bare name and the alias show the same tool, with its arguments and the agents' ways."""
    done = octoc("show", "tool", name, "--json", "--workspace", str(built))
    assert (done.status, done.err) == (0, "")
    tool = json.loads(done.out)
    assert (tool["id"], tool["description"]) == ("time/convert_time", "Convert time between timezones")
    assert [(row["name"], row["type"], row["required"]) for row in tool["arguments"]] == [
        ("source_timezone", "string", True),
        ("target_timezone", "string", True),
        ("time", "string", True),
    ]
    (agent,) = tool["agents"]
    assert (agent["agent"], agent["how"], agent["capabilities"]) == ("supervisor", "by find_tools", ["time"])
    assert tool["tokens"] > 0


def test_the_agents_of_a_tool_are_those_of_scope(octoc: Run, built: Path) -> None:
    """`octoc scope --who-can` names the same agents, and the same way of each."""
    where = ("--json", "--workspace", str(built))
    shown = json.loads(octoc("show", "tool", "time/convert_time", *where).out)["agents"]
    scoped = json.loads(octoc("scope", "--who-can", "time/convert_time", *where).out)
    assert [(one["agent"], one["how"]) for one in shown] == [(one["agent"], one["how"]) for one in scoped]


def test_several_tools_for_people(octoc: Run, built: Path) -> None:
    """Each tool has its tables; the description of an argument is in its row."""
    done = octoc("show", "tool", "get_current_time", "convert_time", "--workspace", str(built))
    assert (done.status, done.err) == (0, "")
    assert done.out.count("\narguments\n") == done.out.count("\nagents that may call it\n") == 2
    assert "timezone  string  required          IANA timezone name" in done.out


def test_a_pattern_lists_what_the_server_states_of_its_tools(octoc: Run, tmp_path: Path) -> None:
    """Each tool of the server is a row with its hints; what the server does not state is shown as such."""
    tools: list[dict[str, Any]] = [
        {"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
        {"name": "drop", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}},
    ]
    builder = WorkspaceBuilder(tmp_path, search={"bind": "never"}).server("db", "db-mcp").snapshot("db", tools)
    here = ("--workspace", str(builder.write()))
    assert octoc("build", *here).status == 0
    lines = [" ".join(line.split()) for line in octoc("show", "tool", "db/*", *here).out.splitlines()]
    assert lines[1:] == ["tool read-only destructive description", "db/read yes not stated", "db/drop not stated yes"]
    assert "matches no tool" in octoc("show", "tool", "db/x*", *here).err


@pytest.mark.parametrize(
    "words, status, says",
    [
        (["tool"], 2, "expected a tool: octoc show tool SERVER/TOOL"),
        (["tool", "time/convert"], 1, "did you mean `convert_time`?"),
        (["tool", "notes/search"], 1, "run `octoc pin notes`, then `octoc build`"),
        (["tool", "time"], 1, "`time` is a server"),
        (["tool", "convert_time", "--agent", "supervisr"], 1, "did you mean `supervisor`?"),
        (["tols"], 2, "there is no section `tols`: did you mean `tools`"),
    ],
)
def test_a_name_of_nothing(octoc: Run, built: Path, words: list[str], status: int, says: str) -> None:
    """A wrong name is an error with a next step."""
    done = octoc("show", *words, "--workspace", str(built))
    assert (done.status, done.out) == (status, "")
    assert says in done.err


@pytest.mark.parametrize(
    "schema, row",
    [
        ({"type": "string", "enum": ["a", "b"]}, ("x", "string", 'one of "a", "b"')),
        ({"enum": ["a"], "default": "a"}, ("x", "string", 'one of "a"; default "a"')),
        ({"const": 1}, ("x", "any", "always 1")),
        ({"type": ["integer", "null"], "default": None}, ("x", "integer", "")),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 0}, ("x", "integer", "default 0")),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, ("x", "integer or string", "")),
        ({"type": "array", "items": {"enum": ["a"]}}, ("x", "array of string", 'one of "a"')),
        ({"$ref": "#/$defs/Size"}, ("x", "integer", "default 3")),
        ({"$ref": "#/$defs/Loop"}, ("x", "any", "")),
        ({"$ref": "#/$defs/Nest"}, ("x", "array of array of array of any", "")),
        ({"$ref": "https://example.com/s"}, ("x", "any", "")),
        ({}, ("x", "any", "")),
        (True, ("x", "any", "")),
        ({"anyOf": 1, "type": 2, "enum": 3}, ("x", "any", "")),
    ],
)
def test_types_and_values(schema: Any, row: tuple[str, str, str]) -> None:
    """A type in words, with the allowed values and the default; a schema of any shape is read."""
    defs: dict[str, Any] = {"Size": {"type": "integer", "default": 3}, "Loop": {"$ref": "#/$defs/Loop"}}
    defs["Nest"] = {"type": "array", "items": {"$ref": "#/$defs/Nest"}}
    (found,) = argument_rows({"properties": {"x": schema}, "$defs": defs})
    assert (found.name, found.type_name, found.value_note) == row


def test_properties_of_properties() -> None:
    """Objects and lists of objects show their own properties below them, three levels at most."""
    leaf: Any = {"type": "string"}
    for _ in range(3):
        leaf = {"type": "object", "properties": {"a": leaf}, "required": ["a"]}
    listed = {"type": "array", "items": {"properties": {"b": {"type": "number"}}}}
    rows = argument_rows({"properties": {"deep": leaf, "list": listed}})
    assert argument_rows({"properties": {"a": leaf, "b": leaf}, "required": ["b"]})[0].name == "b"
    assert [(row.name, row.required) for row in rows] == [
        ("deep", False),
        ("deep.a", True),
        ("deep.a.a", True),
        ("list", False),
        ("list[].b", False),
    ]
    assert argument_rows(None) == argument_rows([]) == ()
