"""What the schemas of front matter cannot say: names that paths give, inline servers, unknown fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from octoc.compiler.check.fields import report_unknown_fields
from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.mcp import check_entry
from octoc.compiler.check.schemas import fields
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.agents.octo import AGENT_FILE, AGENT_TYPES
from octoc.compiler.inputs.skill import SKILL, needs_front_matter
from octoc.compiler.model.documents import kept
from octoc.diagnostics.model import Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import one_of
from octoc.names import is_name

_RESTRICTING = frozenset({"allowed-tools", "allowed_tools", "allowedTools"})
"""What skills and commands of Claude Code, and other clients, call the tools of an agent."""
_NAMES = "expected letters, digits, `-`, `_` and `.`, starting with a letter or a digit"
_USUAL_AGENT_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\Z")


def agent_name_from_path(display: str) -> str:
    """Return what an agent without a `name` is called: its folder for an AGENT.md, else its file's stem."""
    path = PurePosixPath(display)
    return path.parent.name if path.name == AGENT_FILE else path.stem


def is_documentation(values: Mapping[str, Any], inspection: FileInspection) -> bool:
    """Report and cut a Markdown file without a name among Claude Code's agents; tell whether it is one."""
    if not inspection.file.dialect.needs_name or values.get("name") is not None:
        return False
    inspection.report(
        rules.AGENT_WITHOUT_NAME,
        "the file has no `name`: it is taken for documentation and skipped",
        (),
        cut=(),
        help="add `name` and `description` to make it an agent",
    )
    return True


def check_agent(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check an agent in Markdown whose schema is met; one unsound inline server is cut, not the agent."""
    restricting = _RESTRICTING & values.keys()
    for key in sorted(restricting):
        inspection.report(
            rules.RESTRICTION_NOT_IN_FORCE,
            f"{inspection.file.dialect.client} does not read `{key}` in an agent"
            + ("" if "tools" in values else ", so the agent has every tool"),
            (key,),
            key=True,
            help="call it `tools`" if "tools" not in values else "delete it: `tools` says what the agent has",
        )
    report_unknown_fields(values, fields(AGENT_MD) | restricting, (), inspection, open_ended=True)
    name = values.get("name")
    if name is None:
        name = agent_name_from_path(inspection.file.display)
        inspection.report(
            rules.AGENT_NAME_FROM_PATH,
            f"the agent has no `name`: its path makes it `{name}`",
            (),
            help=f"add `name: {name}`",
        )
    elif not _USUAL_AGENT_NAME.match(name):
        inspection.report(
            rules.UNUSUAL_AGENT_NAME,
            f"agent name `{name}` is one that some clients refuse: expected lower-case letters, digits and `-`",
            ("name",),
            help=f"call it `{_usual(name)}`" if is_name(_usual(name)) else None,
        )
    written = values.get("type")
    if written and written not in AGENT_TYPES:
        inspection.report(
            rules.UNEXPECTED_VALUE,
            f"unknown agent type `{written}`, so the agent is a worker: expected {one_of(AGENT_TYPES)}",
            ("type",),
            help=did_you_mean(written, AGENT_TYPES),
            severity=Severity.WARNING,
        )
    for index, item in kept(values.get("mcpServers", [])):
        if isinstance(item, Mapping):
            for server, entry in item.items():
                check_entry(server, entry, ("mcpServers", index, server), inspection)


def check_skill(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a skill whose schema is met."""
    report_unknown_fields(values, fields(SKILL), (), inspection, open_ended=True)
    if needs_front_matter(inspection.file.display, inspection.file.tap):
        _check_strict_skill(values, inspection)
    else:
        _check_lenient_skill(values, inspection)


def in_one_line(text: str) -> str:
    """Return a text as a message quotes it, with its lines joined."""
    return " ".join(text.split())


def _check_strict_skill(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check what Octomind, Octo and Codex want of a skill."""
    folder = PurePosixPath(inspection.file.display).parent.name
    for key in ("name", "description"):
        if key not in values:
            message = f"the file has no `{key}`"
            inspection.report(
                rules.MISSING_KEY, message, (), cut=(), help=f"add `{key}`: clients skip the skill without it"
            )
    name = values.get("name", folder)
    if not is_name(name):
        inspection.report(rules.BAD_NAME, f"`{in_one_line(name)}` is not a valid name: {_NAMES}", ("name",), cut=())
    elif name != folder:
        inspection.report(
            rules.SKILL_NAME_DIFFERS,
            f"skill `{name}` is in folder `{folder}`: Octomind never activates it",
            ("name",),
            help="give folder and skill the same name",
        )


def _check_lenient_skill(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a skill that Claude Code takes without a name or a description."""
    place = Place(file=inspection.file.display)
    folder = PurePosixPath(inspection.file.display).parent.name
    if "description" not in values and "name" in values:
        inspection.sink.report(
            rules.MISSING_KEY,
            "the skill has no `description`: Claude Code takes its first paragraph, and other clients skip it",
            at=place,
            help="add `description`: what the skill teaches and when it is needed",
            severity=Severity.WARNING,
            subject="lenient",
        )
    name = values.get("name", folder)
    if not is_name(name):
        inspection.cuts.add(("name",))
    if name != folder:
        differs = f"skill `{name}` is in folder `{folder}`"
        invalid = f"`{in_one_line(name)}` is not a valid name: {_NAMES}"
        inspection.sink.report(
            rules.SKILL_NAME_DIFFERS if is_name(name) else rules.BAD_NAME,
            differs if is_name(name) else invalid,
            at=place.child("name"),
            help=f"the Agent Skills specification wants the folder's name; Claude Code calls the skill `{folder}`",
            severity=Severity.INFO,
            subject="lenient",
        )


def _usual(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
