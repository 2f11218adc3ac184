"""Reads the tools in a server's list. Tools that break the protocol's rules are left out, with a warning."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from octoc.plugin import ListedTool
from octoc_transport_rest.faults import one_line, without_secrets
from octoc_transport_rest.protocol import MAX_TOOLS, TOOL_NAME

log = logging.getLogger(__name__)

_NAMED = 5


@attrs.frozen(kw_only=True)
class ValidTools:
    """The first MAX_TOOLS valid tools in the server's order.

    `more` is the number of valid tools after them; `left_out` has a line for each of the first MAX_TOOLS descriptors
    that breaks a rule.
    """

    tools: tuple[ListedTool, ...]
    more: int
    left_out: tuple[str, ...]


def tools_of(server: str, descriptors: Sequence[Any], secrets: tuple[str, ...]) -> ValidTools:
    """Return the tools in a server's answer. A warning names each left-out tool."""
    sound: dict[str, ListedTool] = {}
    left_out: list[str] = []
    for index, wire in enumerate(without_secrets(list(descriptors), secrets)):
        why = _fault(wire, sound)
        if why is None:
            sound[wire["name"]] = ListedTool(name=wire["name"], description=wire["description"], wire=wire)
        elif index < MAX_TOOLS:  # so that a long list of invalid tools does not fill the log
            left_out.append(one_line(f"number {index + 1}: {why}", secrets))
            log.warning("%s", one_line(f"`{server}` lists a tool that is left out, number {index + 1}: {why}", secrets))
    tools = tuple(sound.values())
    rest = tools[MAX_TOOLS:]
    if rest:
        named = ", ".join(f"`{tool.name}`" for tool in rest[:_NAMED]) + (", …" if len(rest) > _NAMED else "")
        text = (
            f"`{server}` lists {len(tools)} tools: the first {MAX_TOOLS} are taken, and {len(rest)} left out: {named}"
        )
        log.warning("%s", one_line(text, secrets))
    return ValidTools(tools=tools[:MAX_TOOLS], more=len(rest), left_out=tuple(left_out))


def _fault(descriptor: Any, before: Mapping[str, ListedTool]) -> str | None:
    if not isinstance(descriptor, dict):
        return "it is not an object"
    name = descriptor.get("name")
    if not isinstance(name, str):
        return "it has no `name`"
    if not TOOL_NAME.fullmatch(name):
        return f"the name `{name:.80}` is not of the form `{TOOL_NAME.pattern}`"
    if name in before:
        return f"`{name}` is listed already"
    if not isinstance(descriptor.get("description"), str):
        return f"`{name}` has no `description`"
    if not isinstance(descriptor.get("inputSchema"), dict):
        return f"`{name}` has no `inputSchema`"
    if not isinstance(descriptor.get("outputSchema", {}), dict):
        return f"the `outputSchema` of `{name}` is not an object"
    return None
