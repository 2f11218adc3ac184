"""Tools as a model's API wants them, and most of octoc's own tools; `skill` has its form beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIND_TOOLS = "find_tools"
CALL_MCP_TOOL = "call_mcp_tool"
CAPABILITY = "capability"
SKILL = "skill"
READ_RESULT = "read_result"

SKILLS_LISTED = 20
"""How many skills one answer of `skill` lists unless told."""


def _wire(name: str, description: str, properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": [*required]}
    return {"name": name, "description": description, "inputSchema": schema}


def proxy_wires(*, details: bool = True) -> list[dict[str, Any]]:
    """Return `find_tools` and `call_mcp_tool` in MCP's form; `details`: `find_tools` shows whole tools by name."""
    wires = _proxy_wires()
    if details:
        wires[0]["inputSchema"]["properties"]["detail"] = {
            "type": "array",
            "items": {"type": "string"},
            "description": "Instead of a search: exact names of tools to show in full.",
        }
        del wires[0]["inputSchema"]["required"]
    return wires


def _proxy_wires() -> list[dict[str, Any]]:
    return [
        _wire(
            FIND_TOOLS,
            (
                "Search the available tools by what they should do. Returns the names, descriptions and parameter "
                "schemas of those that fit, and how each is called. Use it before call_mcp_tool."
            ),
            {"query": {"type": "string", "description": "What the tool should do: keywords or a sentence."}},
            "query",
        ),
        _wire(
            CALL_MCP_TOOL,
            "Call a tool that find_tools returned: its exact name, and arguments that fit its schema.",
            {
                "tool_name": {"type": "string", "description": "The exact name that find_tools returned."},
                "arguments": {"type": "object", "description": "The tool's arguments."},
            },
            "tool_name",
        ),
    ]


def capability_wire() -> dict[str, Any]:
    """Return the tool `capability` in MCP's form."""
    return _wire(
        CAPABILITY,
        (
            "Manage the capabilities of this session: named sets of tools that are active only while needed. "
            "list shows them all, discover finds those that fit an intent, enable and disable switch one."
        ),
        {
            "action": {
                "type": "string",
                "enum": ["list", "enable", "disable", "discover"],
                "description": "What to do.",
            },
            "name": {"type": "string", "description": "The capability, for enable and disable."},
            "intent": {"type": "string", "description": "What you want to do, in plain words, for discover."},
        },
        "action",
    )


def read_result_wire() -> dict[str, Any]:
    """Return the tool `read_result` in MCP's form."""
    return _wire(
        READ_RESULT,
        (
            "Read on in a result that was cut: its notice has the handle, and mostly the whole call. Handles are good "
            "for a while, in this session."
        ),
        {
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
        "handle",
    )


def skill_wire() -> dict[str, Any]:
    """Return the tool `skill` in MCP's form."""
    return _wire(
        SKILL,
        (
            "Manage skills: instructions for one kind of work, read only when they are needed. list shows those that "
            "there are, use returns a skill's text and activates what it needs, forget ends that."
        ),
        {
            "action": {"type": "string", "enum": ["list", "use", "forget"], "description": "What to do."},
            "name": {"type": "string", "description": "The skill, for use and forget."},
            "pattern": {
                "type": "string",
                "description": "For list: only skills with this text in their name or description.",
            },
            "offset": {"type": "integer", "description": "For list: how many to pass over; default 0."},
            "limit": {"type": "integer", "description": f"For list: how many to show; default {SKILLS_LISTED}."},
        },
        "action",
    )


def own_wires(
    *, profile: str, proxy: bool, switchable: bool, skills: bool, reads_results: bool, native: bool = False
) -> list[dict[str, Any]]:
    """Return the own tools of an agent, in the order of every block.

    Args:
        profile: that of results and failures.
        proxy: it has deferred tools; `native`: which the provider loads itself when `find_tools` has found them.
        switchable: it has capabilities; `skills`: it has skills.
        reads_results: what was cut of a result can be read.
    """
    own = [_native_find_wire()] if proxy and native else []
    own += proxy_wires(details=profile != "octo") if proxy and not native else []
    own += [capability_wire()] if switchable else []
    own += [skill_wire()] if skills else []
    # From the start: a tool that came with the first cut would change the block before all others.
    return [*own, read_result_wire()] if reads_results and profile == "octoc" else own


def _native_find_wire() -> dict[str, Any]:
    found = _proxy_wires()[0]
    text = "Search the available tools by what they should do. Those that fit can then be called by their names."
    return {**found, "description": text}
