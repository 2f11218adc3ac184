"""A call whose arguments do not fit its tool's schema: answered, logged or sent, as the workspace has it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import ResultSettings, ToolPolicy
from octoc.names import ToolId
from octoc.plugin import PythonTool
from octoc.results import ToolFailure, ToolResult
from octoc.runtime.arguments import validator
from octoc.runtime.arguments.check import MAX_TRIALS, ArgumentChecks
from octoc.runtime.arguments.validator import MAX_STEPS, Compiled
from octoc.transport_kinds import STANDARD

if TYPE_CHECKING:
    from octoc.runtime import Session
    from tests.runtime.conftest import Fleet

CREATE = {
    "type": "object",
    "properties": {"repo": {"type": "string"}, "title": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["repo", "title"],
    "additionalProperties": False,
}
WRONG = {"repo": 1, "titel": "x", "count": "2", "body": "y"}


def _call(session: Session, name: str, arguments: Any) -> ToolResult | ToolFailure:
    return asyncio.run(session.call(name, arguments))


def _github(fleet: Fleet, schema: Any = CREATE, **fields: Any) -> Session:
    fleet.server("github", ["create", "other"], {"create": schema}, **fields)
    fleet.agent(proxy=True)
    return fleet.open().session()


def test_arguments_that_fit_are_sent(fleet: Fleet) -> None:
    """A sound call reaches the server as it is."""
    session = _github(fleet)
    arguments = {"repo": "a", "title": "b"}
    assert json.loads(_call(session, "create", arguments).text) == arguments


@pytest.mark.parametrize("through_proxy", [False, True])
def test_arguments_that_do_not_fit_are_told_and_not_sent(fleet: Fleet, *, through_proxy: bool) -> None:
    """The model gets the first three mistakes, and no server is started."""
    session = _github(fleet)
    named = {"tool_name": "create", "arguments": WRONG}
    outcome = _call(session, "call_mcp_tool", named) if through_proxy else _call(session, "create", WRONG)
    assert isinstance(outcome, ToolFailure)
    assert outcome.kind == "bad_request"
    assert outcome.text == (
        "[Error] The arguments of 'github__create' do not fit its schema, and it was not called:\n"
        "- /repo: expected string, got integer\n"
        "- /count: expected integer, got string: write it as JSON, without quotes around it\n"
        "- missing required property 'title' (string); 'titel' is not its name\n"
        "- 2 more"
    )
    assert "\n" not in outcome.message
    assert fleet.servers["github"].connects == 0


def test_octopus_is_told_in_its_own_form(fleet: Fleet) -> None:
    """In profile `octopus` the failure is an object with code, message and the field that is wrong."""
    fleet.settings = attrs.evolve(fleet.settings, results=ResultSettings(profile="octopus"))
    outcome = _call(_github(fleet), "create", {"repo": 1, "title": "x"})
    assert json.loads(outcome.text) == {
        "error": "bad_request",
        "message": "the arguments of `github/create` do not fit its schema: /repo: expected string, got integer",
        "field": "/repo",
    }


def test_warn_logs_and_sends(fleet: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    """With `arguments = "warn"` the call is made all the same; the log names what is wrong, and no value."""
    fleet.settings = attrs.evolve(fleet.settings, arguments="warn")
    session = _github(fleet)
    with caplog.at_level(logging.WARNING, "octoc.runtime"):
        assert _call(session, "create", {"repo": 1, "title": {"hunter": "hunter2"}}).ok
    assert "`github/create`" in caplog.text
    assert "/repo: expected string, got integer" in caplog.text
    assert "hunter2" not in caplog.text


def test_off_sends_without_a_look(fleet: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    """With `arguments = "off"` nothing is judged and nothing is logged."""
    fleet.settings = attrs.evolve(fleet.settings, arguments="off")
    with caplog.at_level(logging.WARNING, "octoc.runtime"):
        assert _call(_github(fleet), "create", WRONG).ok
    assert caplog.records == []


def test_a_tools_own_policy_goes_first(fleet: Fleet) -> None:
    """The first glob of the server that matches a tool counts; one that leaves `arguments` open is as the workspace."""
    policies = (ToolPolicy(glob="oth*", retry="never"), ToolPolicy(glob="*", arguments="off"))
    fleet.server("github", ["create", "other"], {"create": CREATE, "other": CREATE}, policies)
    fleet.agent(proxy=True)
    session = fleet.open().session()
    assert _call(session, "create", WRONG).ok
    assert not _call(session, "other", WRONG).ok


def test_an_unlisted_servers_tools_are_judged_once_they_are_known(fleet: Fleet) -> None:
    """What a server lists when it is connected is what its calls are judged by."""
    fleet.server("github", ["create"], {"create": CREATE}, listed=False)
    fleet.agent(proxy=True, unlisted=(fleet.grant("github"),))
    outcome = _call(fleet.open().session(), "github/create", {"repo": "a"})
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, fleet.servers["github"].calls) == ("bad_request", [])


def test_a_builtin_servers_tools_are_judged(fleet: Fleet) -> None:
    """A tool that is a function of the host gets no arguments that its schema does not allow."""
    called: list[Mapping[str, Any]] = []
    fleet.server("host", ["note"], {"note": CREATE}, transport="builtin", command=None)
    fleet.agent(proxy=True)
    runtime = fleet.open()
    runtime.bind("host", [PythonTool(name="note", description="", input_schema=CREATE, handler=called.append)])
    assert not _call(runtime.session(), "note", {"repo": 1}).ok
    assert called == []
    assert _call(runtime.session(), "note", {"repo": "a", "title": "b"}).ok
    assert len(called) == 1


@pytest.mark.parametrize("transport, fits", [("rest", True), ("stdio", False)])
def test_a_rest_server_speaks_draft_7(transport: str, *, fits: bool) -> None:
    """Without `$schema` a REST server's schema is draft-07, and any other's is 2020-12."""
    checks = ArgumentChecks()
    schema = {"properties": {"a": {"prefixItems": [{"type": "string"}]}}}
    found = asyncio.run(checks.problems(ToolId("s", "t"), schema, {"a": [1]}, dialect=STANDARD[transport].dialect))
    assert (found == ()) == fits


@pytest.mark.parametrize(
    "schema",
    [
        {"required": "repo"},
        {"properties": "none"},
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "#"},
        {"type": "object", "properties": {"repo": {"type": "text"}}},
        {"$schema": "https://example.com/mine", "required": ["x"]},
        {"properties": {"repo": {"exclusiveMinimum": True}}},
    ],
)
def test_a_broken_schema_never_blocks_a_call(
    fleet: Fleet, caplog: pytest.LogCaptureFixture, schema: dict[str, Any]
) -> None:
    """Arguments that cannot be checked are sent, and the log names the tool and the reason once."""
    session = _github(fleet, schema)
    with caplog.at_level(logging.WARNING, "octoc.runtime"):
        assert _call(session, "create", {"repo": 1}).ok
        assert _call(session, "create", {"repo": 1}).ok
    (record,) = caplog.records
    assert record.getMessage().startswith("arguments of `github/create` are sent unchecked")


@pytest.mark.parametrize("schema", [None, True, {}, "text", [1]])
def test_a_tool_without_a_schema_takes_anything(fleet: Fleet, schema: Any) -> None:
    """Where the server lists no schema, or something else in its place, nothing is judged."""
    assert _call(_github(fleet, schema), "create", {"x": 1}).ok


def test_a_costly_schema_is_judged_by_no_more(caplog: pytest.LogCaptureFixture) -> None:
    """A schema that took too long three times in a row is not tried again, and the log says so once."""
    definitions = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    schema = {"$defs": {**definitions, "d40": {}}, "allOf": [{"$ref": "#/$defs/d0"}]}
    checks, tool = ArgumentChecks(), ToolId("s", "t")
    with caplog.at_level(logging.WARNING, "octoc.runtime"):
        for _ in range(MAX_TRIALS):
            assert asyncio.run(checks.problems(tool, schema, {})) == ()
    (record,) = caplog.records
    assert "takes too long" in record.getMessage()
    assert checks._tools[tool].compiled is None


def test_a_large_value_does_not_spoil_a_schema() -> None:
    """Arguments that are too many to be judged are sent, and the next call of the tool is judged as before."""
    schema = {"properties": {"all": {"items": {"type": "integer"}}}}
    checks, tool = ArgumentChecks(), ToolId("s", "t")
    for _ in range(2 * MAX_TRIALS):
        assert asyncio.run(checks.problems(tool, schema, {"all": ["x"] * MAX_STEPS * 2})) != ()
        assert asyncio.run(checks.problems(tool, schema, {"all": [*range(MAX_STEPS * 2), "x"]})) == ()
    assert asyncio.run(checks.problems(tool, schema, {"all": ["x"]})) != ()


def test_one_long_moment_does_not_spoil_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else took the processor's time during a call costs its check alone."""
    schema = {"properties": {"all": {"items": {"type": "integer"}}}}
    wrong = {"all": [*range(validator.UNTIMED_STEPS), "x"]}
    checks, tool = ArgumentChecks(), ToolId("s", "t")
    assert asyncio.run(checks.problems(tool, schema, wrong)) != ()
    with monkeypatch.context() as long:
        long.setattr(validator, "MAX_SECONDS", -1.0)
        assert asyncio.run(checks.problems(tool, schema, wrong)) == ()
    assert asyncio.run(checks.problems(tool, schema, wrong)) != ()


def test_a_schema_is_made_ready_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of one tool share what was made of its schema; another schema of the same tool takes its place."""
    checks, tool = ArgumentChecks(), ToolId("s", "t")
    made: list[Any] = []
    compile_ = checks._validator.compile

    def counted(schema: Mapping[str, Any], default: str) -> Compiled:
        made.append(schema)
        return compile_(schema, default)

    monkeypatch.setattr(checks._validator, "compile", counted)
    for _ in range(3):
        asyncio.run(checks.problems(tool, CREATE, {"repo": "a", "title": "b"}))
    assert len(made) == 1
    assert asyncio.run(checks.problems(tool, {"required": ["z"]}, {"repo": "a", "title": "b"})) != ()
    assert len(made) == 2


def test_the_schemas_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used schemas are dropped."""
    monkeypatch.setattr("octoc.runtime.arguments.check._MAX_COMPILED", 3)
    checks = ArgumentChecks()
    for name in ("a", "b", "c", "a", "d"):
        asyncio.run(checks.problems(ToolId("s", name), CREATE, {"repo": "a", "title": "b"}))
    assert [tool.tool for tool in checks._tools] == ["c", "a", "d"]


@pytest.mark.parametrize(
    "arguments, told",
    [
        ({"query": 3}, "- /query: expected string, got integer"),
        ({"q": "x"}, "- missing required property 'query' (string), got 'q'"),
    ],
)
def test_find_tools_is_told_as_clearly(fleet: Fleet, arguments: dict[str, Any], told: str) -> None:
    """The proxy's own tools are refused in the same form."""
    text = _call(_github(fleet), "find_tools", arguments).text
    assert text.splitlines() == [
        "[Error] The arguments of 'find_tools' do not fit its schema, and it was not called:",
        told,
    ]


def test_arguments_beside_arguments_are_told(fleet: Fleet) -> None:
    """What a model wrote beside `arguments` instead of in it is named."""
    session = _github(fleet)
    outcome = _call(session, "call_mcp_tool", {"tool_name": "create", "repo": "a", "title": "b"})
    assert outcome.text.splitlines()[1] == "- put 'repo', 'title' into 'arguments'"
    assert _call(session, "call_mcp_tool", {"tool_name": "other", "arguments": {"text": "a"}, "why": "b"}).ok


def test_every_recorded_schema_can_be_judged_by(
    realworld: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tools of real servers have schemas that come to a verdict, and that their own dialects allow."""
    # A collection of garbage in a large test process counts as processor time of the validation; steps stay limited.
    monkeypatch.setattr(validator, "MAX_SECONDS", 60.0)
    checks, judged = ArgumentChecks(), 0
    for path in sorted((realworld / "tools").glob("*.json")):
        for tool in json.loads(path.read_text(encoding="utf-8"))["tools"]:
            found = asyncio.run(checks.problems(ToolId(path.stem, tool["name"]), tool["inputSchema"], {"zz": object()}))
            judged += bool(found)
    assert judged > 100
    assert caplog.records == []
