"""An agent to test adapters of frameworks with: its tools, its workspace, and what `octoc build` said of it.

An environment that has a framework need not have the compiler. `python -m octoc.testing.adapter_fleet FOLDER` builds
the bundle where the compiler is, and `AdapterFleet.in_folder` opens it elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import attrs

from octoc.plugin import (
    ContentPart,
    Explainer,
    PythonTool,
    ServerTarget,
    ToolResult,
    current_caller,
    hookimpl,
    plugins_of,
)
from octoc.runtime import Runtime, Session

_EXAMPLE_LINES = 40
_FORECAST = {"city": "Oslo", "days": [{"day": 1, "degrees": -3}, {"day": 2, "degrees": 1}]}
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class CountedByCharacters:
    """A token counter that adds up exactly: one token for each character."""

    name = "characters"

    def count(self, text: str) -> int:
        """Return the number of characters."""
        return len(text)


class _Tools:
    """The plugin that binds the tools and counts tokens."""

    def __init__(self) -> None:
        self._met: set[str] = set()
        self._all_there = asyncio.Event()

    @hookimpl
    def octoc_token_counter(self, model: str) -> CountedByCharacters:
        return CountedByCharacters()

    @hookimpl
    def octoc_tools(self, server: str, target: ServerTarget) -> list[PythonTool] | None:
        match server:
            case "desk":
                return [
                    _tool(
                        "read_note", "Reads a note by its name", lambda given: f"{given['name']}: tea at four", "name"
                    ),
                    attrs.evolve(
                        _tool(
                            "whoami", "Tells who calls", lambda _: f"{current_caller().tenant}/{current_caller().user}"
                        ),
                        annotations={**AdapterFleet.ANNOTATIONS, "idempotentHint": "perhaps"},
                    ),
                    _tool("report", "Writes the yearly report", lambda _: "\n".join(_report())),
                    _tool("refuse", "Always fails", _refuse),
                    _tool("meet", "Waits until both callers have called", self._meet, "name"),
                    _tool("picture", "Draws a picture", lambda _: _picture()),
                ]
            case "sky":
                return [_tool("forecast", "Forecasts the weather of a city", lambda _: _forecast(), "city")]
            case "ledger":
                return [_tool("list_invoices", "Lists customer invoices", lambda _: "two invoices are unpaid", "month")]
            case "archive":
                words = ("ship", "crane", "harbour", "tide", "anchor", "lighthouse")
                return [_tool(f"log_{word}", f"Logs what a {word} did", lambda _: "logged") for word in words]
        return None

    async def _meet(self, given: Mapping[str, Any]) -> str:
        self._met.add(given["name"])
        if len(self._met) == 2:  # two calls that run at the same time end; one after another, the first never would
            self._all_there.set()
        await self._all_there.wait()
        return f"{given['name']} met {len(self._met)}"


@attrs.frozen(kw_only=True)
class AdapterFleet:
    """A bundle with one agent, and what `octoc build` said of it: number and tokens of the tools of a first request.

    `WEATHER_MESSAGE` activates the capability `weather` with the tool `sky__forecast`, whose structured content is
    `FORECAST`. `INVOICES_MESSAGE` then activates `invoices` with `ledger__list_invoices`, and evicts `weather`. The
    agent always has the tools of the server `desk`: `desk__report` has `REPORT_LINES` lines, which are cut, and
    `desk__whoami` has `ANNOTATIONS`.
    `find_tools` finds those of `archive`.
    """

    AGENT: ClassVar = "clerk"
    TENANT: ClassVar = "acme"
    USER: ClassVar = "u1"
    REPORT_LINES: ClassVar = 2_000
    ANNOTATIONS: ClassVar[Mapping[str, Any]] = {"title": "Who calls", "readOnlyHint": True}
    FORECAST: ClassVar[Mapping[str, Any]] = _FORECAST
    WEATHER_MESSAGE: ClassVar = "what will the weather be in Oslo tomorrow?"
    INVOICES_MESSAGE: ClassVar = "which customer invoices are still unpaid this month?"

    EMPTY_SCHEMA: ClassVar[Mapping[str, Any]] = {"type": "object", "properties": {}}

    bundle: Path
    direct_tools: int
    direct_tokens: int

    @classmethod
    def in_folder(cls, folder: Path) -> AdapterFleet:
        """Return the fleet that `build_adapter_fleet` wrote to a folder."""
        return cls(bundle=folder / "fleet.octoc", **json.loads((folder / "bill.json").read_text(encoding="utf-8")))

    def open(self, **options: Any) -> Runtime:
        """Open the bundle with the tools of its servers; the options are those of `Runtime.open`."""
        return Runtime.open(self.bundle, plugins=plugins_of(_Tools()), **options)

    def session(self, runtime: Runtime) -> Session:
        """Begin a conversation of `AGENT`, for `TENANT` and `USER`."""
        return runtime.session(self.AGENT, name="chat-7", tenant=self.TENANT, user=self.USER)

    def failed_call(self, explain: Explainer) -> str:
        """Return what the model reads of a failed call of `desk__refuse`, which `explain` explains."""

        async def call() -> str:
            async with self.open(explain=explain) as runtime:
                outcome = await self.session(runtime).call("desk__refuse", {})
                return outcome.text

        return asyncio.run(call())

    def empty_tool_tokens(self) -> int:
        """Return what `octoc build` counts for a tool without a name, a description and properties."""
        empty = {"name": "", "description": "", "input_schema": self.EMPTY_SCHEMA}
        return len(json.dumps(empty, separators=(",", ":")))


def build_adapter_fleet(folder: Path) -> AdapterFleet:
    """Write the workspace below a folder, build it, and write what the build said."""
    from octoc.testing.workspace import WorkspaceBuilder

    names = ("desk", "sky", "ledger", "archive")
    builder = (
        WorkspaceBuilder(
            folder / "workspace",
            servers={name: {"builtin": name} for name in names},
            routing={"max_active": 1},
            results={"max_chars": 4_000},
            search={"bind": "never"},
        )
        .agent(AdapterFleet.AGENT, type="worker", prompt="You are the clerk.")
        .capability("weather", _WEATHER, server="sky", description="Weather forecasts")
        .capability("invoices", _INVOICES, server="ledger", description="Customer invoices")
    )
    outcome = builder.build(plugins_of(_Tools()))
    if outcome.bundle is None:
        raise ValueError("\n".join(one.message for one in outcome.diagnostics))
    (tokens,) = (one for one in outcome.tokens.agents if one.agent == AdapterFleet.AGENT)
    bill = {"direct_tools": tokens.direct_tools, "direct_tokens": tokens.direct_tokens}
    (folder / "fleet.octoc").write_bytes(outcome.bundle.read_bytes())
    (folder / "bill.json").write_text(json.dumps(bill), encoding="utf-8")
    return AdapterFleet.in_folder(folder)


def page_examples(page: str) -> dict[str, Any]:
    """Run the Python examples of a page's text, and return what they define. The first has 40 lines at most."""
    examples = re.findall(r"```python.*?\n(.*?)```", page, re.DOTALL)
    if len(examples[0].splitlines()) > _EXAMPLE_LINES:
        raise AssertionError(f"the first example has more than {_EXAMPLE_LINES} lines")
    defined: dict[str, Any] = {"__name__": "page"}
    for example in examples:
        exec(compile(example, "page", "exec", dont_inherit=True), defined)  # noqa: S102  # the project's own page
    return defined


_WEATHER = (
    "what will the weather be like tomorrow",
    "is it going to rain in Oslo this weekend",
    "weather forecast for the next days",
    "how cold will it be tonight",
    "do I need an umbrella tomorrow",
    "temperature in the city tomorrow morning",
)
_INVOICES = (
    "which customer invoices are still unpaid",
    "list all open invoices of this month",
    "show me the invoices that are overdue",
    "how much do customers owe us",
    "find the invoice of a customer",
    "unpaid bills this month",
)


def _tool(name: str, description: str, handler: Any, *required: str) -> PythonTool:
    properties = {one: {"type": "string"} for one in required}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": [*required]}
    tool = PythonTool(name=name, description=description, input_schema=schema, handler=handler)
    is_found_only = name.startswith(("log_", "forecast", "list_"))
    return tool if is_found_only else attrs.evolve(tool, direct_for=("worker",))


def _report() -> list[str]:
    return [f"line {number} of the report" for number in range(AdapterFleet.REPORT_LINES)]


def _refuse(_: Mapping[str, Any]) -> str:
    raise ValueError("the archive is closed")


def _forecast() -> ToolResult:
    content = (ContentPart(type="text", text="cold, then mild"),)
    return ToolResult(content=content, structured=_FORECAST)


def _picture() -> ToolResult:
    return ToolResult(content=(ContentPart(type="image", data={"data": _PIXEL, "mimeType": "image/png"}),))


if __name__ == "__main__":
    build_adapter_fleet(Path(sys.argv[1]))
