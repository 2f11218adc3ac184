"""Sessions in the forms of model APIs: what a model gives is read by what it was shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from octoc.results import ToolFailure

if TYPE_CHECKING:
    from octoc.formats import ToolFormat
    from tests.runtime.conftest import Fleet

ODD = {
    "type": "object",
    "properties": {"filter[x]": {"type": "string"}, "values": {"type": "object"}},
    "required": ["values"],
    "additionalProperties": False,
}
VALUES = {"a": [1, None]}


def _called(fleet: Fleet, shown: ToolFormat, name: str, given: Mapping[str, Any], **options: Any) -> Any:
    """Show a block, call a tool, and return the arguments that the server got, or the failure's kind."""

    async def run() -> Any:
        async with fleet.open() as runtime:
            session = runtime.session()
            session.tools(shown)
            outcome = await session.call(name, given, **options)
            return outcome.kind if isinstance(outcome, ToolFailure) else json.loads(outcome.text)

    return asyncio.run(run())


def _odd(fleet: Fleet, server: str = "odd") -> Fleet:
    fleet.server(server, ["act"], schemas={"act": ODD})
    fleet.agent(direct=(0,))
    return fleet


@pytest.mark.parametrize(
    "given",
    [
        {"filter_x_": "q", "values": json.dumps(VALUES)},
        {"filter[x]": "q", "values": VALUES},
        {"filter_x_": "q", "values": VALUES},
    ],
)
def test_arguments_are_read_by_the_block_last_shown(fleet: Fleet, given: dict[str, Any]) -> None:
    """A renamed property and JSON text reach the server as its schema has them, and so does its own form."""
    assert _called(_odd(fleet), "gemini", "odd__act", given) == {"filter[x]": "q", "values": VALUES}


def test_a_call_may_name_its_form(fleet: Fleet) -> None:
    """Without a block of that form arguments are judged as they are, unless the call names the form."""
    given = {"filter_x_": "q", "values": VALUES}
    _odd(fleet)
    assert _called(fleet, "mcp", "odd__act", given) == "bad_request"
    assert _called(fleet, "mcp", "odd__act", given, format="anthropic") == {"filter[x]": "q", "values": VALUES}
    with pytest.raises(ValueError, match="tools have no form `cohere`"):
        _called(fleet, "mcp", "odd__act", given, format="cohere")


def test_a_report_of_the_cache_shows_no_block(fleet: Fleet) -> None:
    """Measuring the block does not change how arguments are read."""
    session = _odd(fleet).open().session()
    session.tools("gemini")
    session.cache_report()
    assert session.state.form.format == "gemini"


def test_a_name_that_gemini_refuses_is_another_one_there(fleet: Fleet) -> None:
    """A tool whose alias starts with a digit has a `_` before it, and is called by it."""
    _odd(fleet, "9lives")
    session = fleet.open().session()
    assert session.tools("gemini")[0]["functionDeclarations"][0]["name"] == "_9lives__act"
    assert _called(fleet, "gemini", "_9lives__act", {"values": "{}"}) == {"values": {}}


def test_the_proxy_takes_json_text_where_objects_are_text(fleet: Fleet) -> None:
    """`call_mcp_tool`, shown to Gemini, has its `arguments` as JSON text; those of the tool are its own."""
    fleet.server("odd", ["act"], schemas={"act": ODD})
    fleet.agent(tools=(0,), proxy=True)
    given = {"tool_name": "odd__act", "arguments": json.dumps({"values": VALUES})}
    assert _called(fleet, "gemini", "call_mcp_tool", given) == {"values": VALUES}


def _deferring(fleet: Fleet) -> Fleet:
    fleet.server("time", ["now", "zone"])
    fleet.server("odd", ["act"], schemas={"act": ODD})
    fleet.agent(tools=(0, 1, 2), direct=(0,), proxy=True)
    return fleet


def test_anthropic_gets_deferred_tools_and_references(fleet: Fleet) -> None:
    """Deferred tools stand at the end with `defer_loading`; a search answers with references to them alone."""
    session = _deferring(fleet).open().session()
    block = session.tools("anthropic", deferred="native")
    deferred = {tool["name"]: tool.get("defer_loading", False) for tool in block}
    assert deferred == {
        "find_tools": False,
        "time__now": False,
        "time__zone": True,
        "odd__act": True,
    }
    assert list(deferred)[-2:] == ["time__zone", "odd__act"]
    assert json.dumps(session.tools("anthropic", deferred="native")) == json.dumps(block)
    assert session.tool_search("zone") == [{"type": "tool_reference", "tool_name": "time__zone"}]
    assert session.tool_search("nothing of the kind")[0]["type"] == "text"


def test_a_referenced_tool_is_called_by_its_name(fleet: Fleet) -> None:
    """A deferred tool is read by the form in which it stands in the block."""
    _deferring(fleet)

    async def run() -> Any:
        async with fleet.open() as runtime:
            session = runtime.session()
            session.tools("anthropic", deferred="native")
            return (await session.call("odd__act", {"filter_x_": "q", "values": {}})).text

    assert json.loads(asyncio.run(run())) == {"filter[x]": "q", "values": {}}


def test_openai_gets_a_search_that_the_host_answers(fleet: Fleet) -> None:
    """The block has a client-executed `tool_search` and no deferred tool; a search answers with whole tools."""
    session = _deferring(fleet).open().session()
    search, *others = session.tools("openai-responses", deferred="native")
    assert (search["type"], search["execution"]) == ("tool_search", "client")
    assert search["parameters"]["required"] == ["query"]
    assert [tool["name"] for tool in others] == ["time__now"]
    (found,) = session.tool_search("zone")
    assert (found["type"], found["name"], found["defer_loading"]) == ("function", "time__zone", True)


def test_native_deferral_is_for_those_who_have_it(fleet: Fleet) -> None:
    """Another form cannot defer natively, and without such a block nothing is there to be loaded."""
    session = _deferring(fleet).open().session()
    with pytest.raises(ValueError, match="`gemini` defers no tools natively: expected one of anthropic, openai-resp"):
        session.tools("gemini", deferred="native")
    with pytest.raises(ValueError, match="no tools are deferred by `nativ`: expected one of proxy, native"):
        session.tools("anthropic", deferred="nativ")  # type: ignore[arg-type]
    session.tools("anthropic")
    with pytest.raises(ValueError, match="deferred="):
        session.tool_search("zone")
