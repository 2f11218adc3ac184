"""Numbers that JSON does not have: no tool of the host gets or gives one, and no transport brings one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from octoc.bundle.model import Grant
from octoc.plugin import PythonTool
from octoc.results import ContentPart, ToolFailure, ToolResult

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet


@pytest.mark.parametrize(
    "answer",
    [
        {"a": [math.nan]},
        -math.inf,
        ToolResult(content=(), structured={"a": math.inf}),
        ToolResult(content=(ContentPart(type="x", data={"a": math.nan}),)),
    ],
    ids=["value", "number", "structured", "part"],
)
def test_a_result_with_a_number_that_json_does_not_have_is_an_error(fleet: Fleet, answer: Any) -> None:
    """A function of the host cannot give a model NaN or an infinity."""
    fleet.server("core", listed=False, transport="builtin", command=None)
    fleet.capability("core", Grant(server="core", globs=("*",)))
    fleet.agent(boot=("core",), capabilities=())
    runtime = fleet.open()
    runtime.bind("core", [PythonTool(name="data", description="", input_schema={}, handler=lambda _: answer)])
    outcome = asyncio.run(runtime.session().call("data"))
    assert isinstance(outcome, ToolResult)
    assert outcome.is_error
    assert outcome.text.startswith("the tool's result cannot be written as JSON: ")
    assert outcome.structured is None


@pytest.mark.parametrize("number", [math.nan, -math.inf])
def test_a_python_tool_gets_no_number_that_json_does_not_have(fleet: Fleet, number: float) -> None:
    """The function is not called; other values of the host's own types reach it."""
    fleet.server("core", listed=False, transport="builtin", command=None)
    fleet.capability("core", Grant(server="core", globs=("*",)))
    fleet.agent(boot=("core",), capabilities=())
    runtime = fleet.open()
    got: list[Mapping[str, Any]] = []
    runtime.bind("core", [PythonTool(name="note", description="", input_schema={}, handler=got.append)])

    async def play() -> None:
        session = runtime.session()
        for arguments in ({"a": [number]}, {"a": MappingProxyType({"b": number})}):
            outcome = await session.call("note", arguments)
            assert isinstance(outcome, ToolFailure)
            assert (outcome.kind, outcome.sent) == ("bad_request", False)
            assert "the arguments of `note` cannot be written as JSON: " in outcome.message
        assert (await session.call("note", {"a": Path("/here")})).ok

    asyncio.run(play())
    assert got == [{"a": Path("/here")}]


@pytest.mark.parametrize("padding", [1, 6_000], ids=["small", "large"])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_transport_gives_no_number_that_json_does_not_have(fleet: Fleet, number: float, padding: int) -> None:
    """A result of a transport that did not refuse the number is a failure, cut or not; one without it is as it was."""
    answers = {
        "structured": ToolResult(content=(), structured={"a": [[number]] * padding}),
        "part": ToolResult(content=(ContentPart(type="x", data={"a": [number] * padding}),)),
        "sound": ToolResult(content=(), structured={"a": [0.5]}),
    }

    def giving(result: ToolResult) -> Any:
        async def give(arguments: Mapping[str, Any]) -> ToolResult:
            return result

        return give

    fleet.server("s", {name: giving(result) for name, result in answers.items()})
    fleet.agent(direct=(0, 1, 2))

    async def play() -> None:
        session = fleet.open().session()
        for name in ("structured", "part"):
            outcome = await session.call(f"s__{name}")
            assert isinstance(outcome, ToolFailure)
            assert (outcome.kind, outcome.sent) == ("protocol", True)
            assert f"`s` answered `{name}` with a number that JSON does not have" in outcome.message
        sound = await session.call("s__sound")
        assert isinstance(sound, ToolResult)
        assert sound.structured == {"a": [0.5]}

    asyncio.run(play())
