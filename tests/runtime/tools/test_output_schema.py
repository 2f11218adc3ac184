"""Structured content of a tool with an output schema: whatever is cut of it, it fits the schema."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import ResultSettings
from octoc.results import ContentPart, ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.runtime.conftest import Fleet

ROWS = [{"number": number, "name": f"row {number}"} for number in range(200)]
LIST = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
WHOLE = {"type": "object", "properties": {"rows": {"type": "array", "minItems": len(ROWS)}}}


def _outcome(fleet: Fleet, schema: Mapping[str, Any] | None, **results: Any) -> ToolResult:
    """Call a tool that answers with all rows, as text and as structured content, with a limit of 1,000 characters."""

    async def rows(_: Mapping[str, Any]) -> ToolResult:
        text = ContentPart(type="text", text=json.dumps({"rows": ROWS}))
        return ToolResult(content=(text,), structured={"rows": ROWS})

    settings = ResultSettings(max_chars=1000, store_memory_bytes=0, store_disk_bytes=0, **results)
    fleet.settings = attrs.evolve(fleet.settings, results=settings)
    server = fleet.server("table", {"rows": rows}, listed=False)
    server.extra = {"rows": {} if schema is None else {"outputSchema": dict(schema)}}
    fleet.agent(proxy=True, unlisted=(fleet.grant("table"),))

    async def scenario() -> Any:
        session = fleet.open().session()
        await session.connect_unlisted()
        return await session.call("call_mcp_tool", {"tool_name": "table/rows"})

    outcome = asyncio.run(scenario())
    assert isinstance(outcome, ToolResult), outcome
    assert len(outcome.text) < 2000
    return outcome


@pytest.mark.parametrize("schema", [None, LIST])
def test_a_cut_that_fits_the_schema_stays_a_cut(fleet: Fleet, schema: Any) -> None:
    """Rows are left out of the text and of the structured content, if the schema allows it."""
    outcome = _outcome(fleet, schema)
    assert outcome.structured is not None
    assert 0 < len(outcome.structured["rows"]) < len(ROWS)


@pytest.mark.parametrize("profile", ["octoc", "octo", "octopus"])
def test_a_cut_that_does_not_fit_the_schema_is_undone(fleet: Fleet, profile: str) -> None:
    """The structured content is whole, and the notice is about the text alone."""
    outcome = _outcome(fleet, WHOLE, profile=profile)
    assert outcome.structured == {"rows": ROWS}
    assert "structured" not in outcome.text


def test_dropped_structured_content_comes_back_with_a_schema(fleet: Fleet) -> None:
    """Profile `octo` drops what is too long, which a client with the schema would take for a fault of the tool."""
    assert _outcome(fleet, LIST, profile="octo").structured == {"rows": ROWS}
