"""What the schemas of front matter cannot say: names that paths give, inline servers, unknown fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from octoc.compiler.check.fields import report_unknown_fields
from octoc.compiler.check.inspection import Inspection
from octoc.compiler.check.mcp import check_entry
from octoc.compiler.check.schemas import fields
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.agents.octo import AGENT_FILE
from octoc.compiler.inputs.skill import SKILL
from octoc.compiler.model.documents import kept
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import one_of
from octoc.names import is_name

AGENT_TYPES = ("supervisor", "worker", "deep_research", "project")
_USUAL_AGENT_NAME = re.compile(r"[a-z][a-z0-9-]*\Z")


def agent_name_from_path(display: str) -> str:
    """Return what an agent without a `name` is called: its folder for an AGENT.md, else its file's stem."""
    path = PurePosixPath(display)
    return path.parent.name if path.name == AGENT_FILE else path.stem


def is_documentation(values: Mapping[str, Any], inspection: Inspection) -> bool:
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


def check_agent(values: Mapping[str, Any], inspection: Inspection) -> None:
    """Check an agent in Markdown whose schema is met; one unsound inline server is cut, not the agent."""
    report_unknown_fields(values, fields(AGENT_MD), (), inspection, open_ended=True)
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


def check_skill(values: Mapping[str, Any], inspection: Inspection) -> None:
    """Check a skill whose schema is met."""
    report_unknown_fields(values, fields(SKILL), (), inspection, open_ended=True)
    folder = PurePosixPath(inspection.file.display).parent.name
    if values["name"] != folder:
        inspection.report(
            rules.SKILL_NAME_DIFFERS,
            f"skill `{values['name']}` is in folder `{folder}`: Octomind never activates it",
            ("name",),
            help="give folder and skill the same name",
        )


def _usual(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
