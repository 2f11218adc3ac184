"""Tools as a model's API wants them, and most of octoc's own tools; `skill` has its form beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

ToolFormat = Literal["anthropic", "openai", "mcp"]

FIND_TOOLS = "find_tools"
CALL_MCP_TOOL = "call_mcp_tool"
CAPABILITY = "capability"
SKILL = "skill"
READ_RESULT = "read_result"

_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}


def rendered(alias: str, wire: Mapping[str, Any], form: ToolFormat) -> dict[str, Any]:
    """Return a tool in the form of a model's API, under its alias. Raises: ValueError for a form that is not known."""
    description = str(wire.get("description") or "")
    schema = wire.get("inputSchema") or dict(_NO_ARGUMENTS)
    if form not in get_args(ToolFormat):
        raise ValueError(f"tools have no form `{form}`: expected one of {', '.join(get_args(ToolFormat))}")
    if form == "anthropic":
        return {"name": alias, "description": description, "input_schema": schema}
    if form == "openai":
        return {"type": "function", "function": {"name": alias, "description": description, "parameters": schema}}
    return {**wire, "name": alias, "description": description, "inputSchema": schema}


def proxy_wires(*, describes: bool = True) -> list[dict[str, Any]]:
    """Return `find_tools` and `call_mcp_tool` in MCP's form; `describes`: `find_tools` shows whole tools by name."""
    wires = _proxy_wires()
    if describes:
        wires[0]["inputSchema"]["properties"]["describe"] = {
            "type": "array",
            "items": {"type": "string"},
            "description": "Instead of a search: exact names of tools to show in full.",
        }
        del wires[0]["inputSchema"]["required"]
    return wires


def _proxy_wires() -> list[dict[str, Any]]:
    return [
        {
            "name": FIND_TOOLS,
            "description": (
                "Search the available tools by what they should do. Returns the names, descriptions and parameter "
                "schemas of those that fit, and how each is called. Use it before call_mcp_tool."
            ),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What the tool should do: keywords or a sentence."}
                },
                "required": ["query"],
            },
        },
        {
            "name": CALL_MCP_TOOL,
            "description": "Call a tool that find_tools returned: its exact name, and arguments that fit its schema.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "tool_name": {"type": "string", "description": "The exact name that find_tools returned."},
                    "arguments": {"type": "object", "description": "The tool's arguments."},
                },
                "required": ["tool_name"],
            },
        },
    ]


def capability_wire() -> dict[str, Any]:
    """Return the tool `capability` in MCP's form."""
    return {
        "name": CAPABILITY,
        "description": (
            "Manage the capabilities of this session: named sets of tools that are active only while needed. "
            "list shows them all, discover finds those that fit an intent, enable and disable switch one."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["list", "enable", "disable", "discover"],
                    "description": "What to do.",
                },
                "name": {"type": "string", "description": "The capability, for enable and disable."},
                "intent": {"type": "string", "description": "What you want to do, in plain words, for discover."},
            },
            "required": ["action"],
        },
    }


def read_result_wire() -> dict[str, Any]:
    """Return the tool `read_result` in MCP's form."""
    return {
        "name": READ_RESULT,
        "description": (
            "Read on in a result that was cut: its notice has the handle, and mostly the whole call. Handles are good "
            "for a while, in this session."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "handle": {"type": "string", "description": "The handle from the notice."},
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "First character, or with json_pointer first item, member or character; default 0.",
                },
                "json_pointer": {
                    "type": "string",
                    "description": 'Read a part that is JSON as JSON: "" for all of it, or as "/items/3".',
                },
                "part": {"type": "integer", "minimum": 0, "description": "Which part of the result; default 0."},
                "limit": {"type": "integer", "minimum": 1, "description": "Longest answer, in characters."},
            },
            "required": ["handle"],
        },
    }
