"""What the gateway's lists say of their entries and of themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from octoc_serve.offers import STEADY_TTL_MS
from octoc_serve.server import _tool

Run = Callable[..., None]
ANSWER = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_tool_has_the_output_schema_of_its_server(
    run: Run, serve: Callable[..., Any], connect: Callable[..., Any], everything: Any, era: str
) -> None:
    """The client validates the structured content of a call by it, and learns how long it may reuse the list."""
    gateway = serve("--agent", "all", bundle=everything.bundle)

    async def scenario() -> None:
        async with connect(era, gateway) as heard:
            listed = await heard.client.list_tools()
            schemas = {tool.name: tool.output_schema for tool in listed.tools}
            assert schemas["test_structured_content"] == ANSWER
            assert schemas["test_simple_text"] is None
            if era == "modern":
                assert (listed.ttl_ms, listed.cache_scope) == (STEADY_TTL_MS, "private")
            result = await heard.client.call_tool("test_structured_content")
            assert result.structured_content == {"answer": "yes"}

    run(scenario)


def test_a_client_gets_only_schemas_that_its_era_allows() -> None:
    """The handshake era allows only schemas of objects, and no era allows `false`."""

    def eras(schema: Any) -> list[bool]:
        wire = {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": schema}
        return [modern for modern in (False, True) if _tool(wire, modern=modern).output_schema is not None]

    assert eras(ANSWER) == [False, True]
    assert eras({"type": "array"}) == eras({"anyOf": [ANSWER]}) == [True]
    assert eras(False) == eras(None) == []
