"""What is wrong with one tool or one content part costs that one alone, and a result without a type is complete."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types.methods import validate_server_result

from octoc_transport_mcp.lenient import META_LEFT_OUT, lenient
from octoc_transport_mcp.messages import read
from octoc_transport_mcp.pending_requests import PendingRequests

SCHEMA = {"type": "object"}
OLDER, MODERN = "2025-11-25", "2026-07-28"
TEXT = {"type": "text", "text": "known"}


def test_a_null_schema_costs_its_own_tool_and_a_null_output_schema_nothing() -> None:
    """The other tools of the page stay as they are."""
    whole: dict[str, Any] = {"name": "whole", "inputSchema": SCHEMA, "outputSchema": SCHEMA}
    null = {"name": "nu\x00ll", "inputSchema": None}
    open_ = {"name": "open", "inputSchema": SCHEMA, "outputSchema": None}
    tools = [whole, null, open_, 7, {"inputSchema": SCHEMA}]
    result = lenient("tools/list", {"tools": tools, "nextCursor": "2", "_meta": {"x": 1}}, "s", OLDER)
    left_out = result["_meta"].pop(META_LEFT_OUT)
    assert result == {
        "tools": [whole, {"name": "open", "inputSchema": SCHEMA}],
        "nextCursor": "2",
        "_meta": {"x": 1},
    }
    assert left_out == {
        "1": "has the name `null` and cannot be read: `inputSchema`: input should be a valid dictionary",
        "3": "is not an object",
        "4": "has no name",
    }


def test_a_server_cannot_say_what_was_left_out() -> None:
    """Its own value under octoc's key is replaced."""
    result = lenient("tools/list", {"tools": [], "_meta": {META_LEFT_OUT: {"0": "forged"}}}, "s", OLDER)
    assert result["_meta"] == {META_LEFT_OUT: {}}


@pytest.mark.parametrize(
    "part, shown",
    [
        ({"type": "hologram", "light": 1}, "of type `hologram`"),
        ({"type": "image"}, "of type `image`"),
        ({"type": "a\x1b[31m"}, "without a type"),
        (None, "without a type"),
    ],
    ids=["unknown", "without its data", "a type with an escape", "null"],
)
def test_a_part_that_cannot_be_read_is_replaced_by_a_text(part: Any, shown: str) -> None:
    """The parts beside it stay, in order."""
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    result = lenient("tools/call", {"content": [TEXT, part, image]}, "s", OLDER)
    said = {"type": "text", "text": f"[octoc] a content part {shown} cannot be read and was left out"}
    assert result == {"content": [TEXT, said, image]}


@pytest.mark.parametrize("version", [OLDER, MODERN])
def test_a_tool_that_the_version_does_not_allow_costs_itself_alone(version: str) -> None:
    """The SDK's own model takes an input schema without a type, and its check of the version refuses the whole list."""
    tools = [{"name": "good", "inputSchema": SCHEMA}, {"name": "untyped", "inputSchema": {}}]
    result = lenient("tools/list", {"tools": tools}, "s", version)
    assert [tool["name"] for tool in result["tools"]] == ["good"]
    why = "has the name `untyped` and cannot be read: `inputSchema/type`: field required"
    assert result["_meta"][META_LEFT_OUT] == {"1": why}
    validate_server_result("tools/list", version, {"resultType": "complete", **result})


@pytest.mark.parametrize("content", [[1, 2], "text", 7], ids=["array", "text", "number"])
def test_structured_content_that_an_older_version_does_not_have_costs_itself_alone(content: Any) -> None:
    """Before 2026-07-28 it is an object; the content parts stay, and a text says what is missing."""
    result = {"content": [TEXT], "structuredContent": content}
    assert lenient("tools/call", {**result, "resultType": "complete"}, "s", MODERN)["structuredContent"] == content
    older = lenient("tools/call", result, "s", OLDER)
    left_out = {"type": "text", "text": "[octoc] the structured content cannot be read and was left out"}
    assert older == {"content": [TEXT, left_out]}
    validate_server_result("tools/call", OLDER, older)


def test_only_a_modern_result_without_a_type_gets_one() -> None:
    """A type that is there stays, and the older era has none."""
    for method in ("tools/call", "tools/list"):
        assert lenient(method, {}, "s", MODERN) == {"resultType": "complete"}
        assert lenient(method, {"resultType": "input_required"}, "s", MODERN) == {"resultType": "input_required"}
        assert lenient(method, {}, "s", OLDER) == {}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_json_does_not_have_is_no_message(number: str) -> None:
    """In a short line as in a long one; as text it is nothing special."""
    for filler in ("", "x" * 300_000):
        line = f'{{"jsonrpc":"2.0","id":1,"result":{{"at":{number},"text":"{filler}"}}}}'.encode()
        assert read(line).fault is not None
        quoted = line.replace(number.encode(), f'"{number}"'.encode(), 1)
        assert read(quoted).message is not None
    assert PendingRequests(1000).admit(b'{"jsonrpc":"2.0","id":1,"result":{"at":NaN}}') == []
