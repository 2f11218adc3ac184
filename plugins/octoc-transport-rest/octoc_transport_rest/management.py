"""Octopus's management API of tool groups, read-only, as a page of the gateway.

It answers `GET /api/octopus/areas/{area}/tool-groups` and `GET /api/octopus/agents/{agent}/tool-groups` from the
bundle, within the scope of the visitor's token. Names are the ids. Files declare groups, so every other method is
refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from octoc.plugin import AGENTS, AgentGroups, ToolGroupView

SETTINGS_FILE = "octoc.toml"
_PATH = re.compile(r"/api/octopus/(areas|agents)/([^/]+)/tool-groups")


async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001  # a request's body is not read
    """Answer one request; an ASGI application."""
    match = _PATH.fullmatch(scope["path"])
    of_agent = match is not None and match[1] == "agents"
    name = "" if match is None else match[2]
    found = {agent.name: await agent.tool_groups() for agent in scope[AGENTS] if not of_agent or agent.name == name}
    if not of_agent:
        found = {agent: groups for agent, groups in found.items() if name in groups.areas}
    if match is None or not found:
        what = "there is nothing at this path" if match is None else f"there is no {match[1][:-1]} `{name}`"
        await _respond(send, HTTPStatus.NOT_FOUND, {"error": "not_found", "message": what})
    elif scope["method"] != "GET":
        message = f"tool groups are declared in files: edit `{_file(name, found)}`, then run `octoc build`"
        refusal = {"error": "method_not_allowed", "message": message}
        await _respond(send, HTTPStatus.METHOD_NOT_ALLOWED, refusal, ((b"allow", b"GET"),))
    elif of_agent:
        body = [{"agentId": name, **_group(group), "enabled": True} for group in found[name].groups]
        await _respond(send, HTTPStatus.OK, body)
    else:
        await _respond(send, HTTPStatus.OK, _of_area(name, found))


def _of_area(area: str, found: Mapping[str, AgentGroups]) -> list[dict[str, Any]]:
    """Return the area's groups, each with the tools that any of the visitor's agents has of it."""
    groups: dict[str, dict[str, Any]] = {}
    for agent in found.values():
        for group in agent.groups:
            if group.area == area:
                known = groups.setdefault(group.name, {**_group(group), "areaId": area})
                known["toolNames"] = list(dict.fromkeys([*known["toolNames"], *group.tools]))
    return list(groups.values())


def _group(group: ToolGroupView) -> dict[str, Any]:
    return {
        "toolGroupId": group.name,
        "name": group.name,
        "description": group.description,
        "toolNames": list(group.tools),
    }


def _file(name: str, found: Mapping[str, AgentGroups]) -> str:
    """Return the file that declares the area `name`, or else the first area of the agent."""
    areas = next(iter(found.values())).areas
    return areas.get(name) or next(iter(areas.values()), SETTINGS_FILE)


async def _respond(send: Any, status: HTTPStatus, value: Any, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
    body = json.dumps(value).encode("ascii")
    standard = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    security = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": int(status), "headers": [*standard, *security, *headers]})
    await send({"type": "http.response.body", "body": body})
