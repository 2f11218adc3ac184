"""Agents of other clients, in each client's own form: checked by its rules, and left out of a build."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any, Literal

import attrs

from octoc.compiler.inputs.skill import PROSE_FILES, SKILL_FILE
from octoc.plugin.file_kinds import Dialect, FileKind

TEXT: Mapping[str, Any] = {"type": "string"}
NAMES: Mapping[str, Any] = {"type": "array", "items": TEXT}
FLAG: Mapping[str, Any] = {"type": "boolean"}
NUMBER: Mapping[str, Any] = {"type": "number"}
TABLE: Mapping[str, Any] = {"type": "object"}
COUNT: Mapping[str, Any] = {"type": "integer", "minimum": 1}
ANYTHING: Mapping[str, Any] = {}
TEXT_OR_NULL: Mapping[str, Any] = {"type": ["string", "null"]}
NAMES_OR_TEXT: Mapping[str, Any] = {"type": ["array", "string", "null"]}

CLIENT_AGENT = FileKind(
    name="client-agent",
    syntax="markdown",
    has_defaults=True,
    bare="octoc.compiler.read.bare_agent:read_bare_agent",
    check="octoc.compiler.check.client_agents:check_client_agent",
    other_names=PROSE_FILES | {SKILL_FILE},
    scan="everywhere",
    names_files=True,
)


@attrs.frozen(kw_only=True, eq=False)
class AgentDialect(Dialect):
    """One client's form of an agent: all that octoc knows of it.

    Args:
        schema: the JSON Schema of what the client reads; it refuses a file that does not meet it.
        tools: the keys that list tools, or have them as keys of a mapping.
        builtin: the client's own tools.
        elsewhere: tools of other clients that this one does not have -> its own; empty where it has none.
        wants_known: a pattern of the tools that may come from elsewhere; the client refuses an agent with any other.
        ignores_case: the client finds a tool in any case.
        refused_keys: a pattern of unknown keys that the client refuses, where its keys change with its version.
        unread: keys that restrict tools in other clients and not in this one -> what to write instead.
        skipped: names of files in the folders that the client does not read, as patterns.
        wants: the keys without which the client leaves out an agent that its settings do not name.
        documented: keys that the client's documentation requires; what it does without them is unknown.
        doubled: what the client does with two agents of one name; empty where octoc does not know.
        files: keys whose `file://` address is a path relative to the agent's file.
        bare: what the client does with Markdown without front matter: it refuses the file, skips it as prose, or takes
            it as an agent without a description.
    """

    kind: str = CLIENT_AGENT.name
    schema: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    tools: tuple[str, ...] = ("tools",)
    builtin: frozenset[str] = frozenset()
    elsewhere: Mapping[str, str] = attrs.field(factory=dict)
    wants_known: str = ""
    ignores_case: bool = False
    refused_keys: str = ""
    unread: Mapping[str, str] = attrs.field(factory=dict)
    skipped: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    documented: tuple[str, ...] = ()
    doubled: str = ""
    files: tuple[str, ...] = ()
    bare: Literal["refused", "prose", "agent"] = "agent"

    @property
    def is_closed(self) -> bool:
        """Whether the client refuses keys that it does not know."""
        return self.schema.get("additionalProperties") is False

    def skips(self, path: PurePath) -> bool:
        """Tell whether the client leaves the file at `path` out by its name."""
        return any(fnmatchcase(path.name, pattern) for pattern in self.skipped)


def object_schema(properties: Mapping[str, Any], *required: str, closed: bool = False) -> Mapping[str, Any]:
    """Return a JSON Schema of an object."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {**schema, "additionalProperties": False} if closed else schema


def unread(advice: str, *more: str) -> Mapping[str, str]:
    """Return the keys that restrict tools in other clients, each with `advice`."""
    keys = ("allowed-tools", "allowed_tools", "allowedTools", "disallowed-tools", "disallowed_tools", "disallowedTools")
    return dict.fromkeys((*keys, *more), advice)
