"""Agents of other clients, by the rules of the client that reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from octoc.compiler.check.fields import report_unknown_fields
from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.schemas import validator_of_client
from octoc.compiler.check.translate import report_errors
from octoc.compiler.inputs.agents.clients import AgentDialect
from octoc.compiler.inputs.agents.keys import KEYS_OF_CLIENTS
from octoc.compiler.inputs.agents.tool_lists import names_in
from octoc.compiler.inputs.claude.paths import is_missing
from octoc.diagnostics.model import Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.diagnostics.suggest import slip_of_key

_OLDER = ".chatmode.md"
"""The ending of files that need nothing: the older form of Copilot's agents."""
_CHANGING = frozenset({"bash", "shell", "execute", "edit", "multiedit", "write", "create", "*"})
"""Tools that write or run: an agent that may use one is hardly restricted."""


def check_client_agent(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check an agent by the schema of its client; report keys without effect."""
    dialect = inspection.file.dialect
    if not isinstance(dialect, AgentDialect) or dialect.skips(inspection.file.path):
        return
    judged = attrs.evolve(inspection, effect=dialect.effect)
    if dialect.takes_null:
        values = {key: value for key, value in values.items() if value is not None}
    report_errors(validator_of_client(dialect).iter_errors(values), judged)
    for key in sorted(dialect.unread.keys() & values.keys()) if not dialect.is_closed else ():
        report_unread(key, values, dialect.unread[key], inspection)
    for key in dialect.documented if not inspection.file.path.name.endswith(_OLDER) else ():
        if values.get(key) in (None, ""):
            inspection.sink.report(
                rules.MISSING_KEY,
                f"the agent has no `{key}`, which the documentation of {dialect.client} requires",
                at=Place(file=inspection.file.display),
                help=f"add `{key}`: it says when the agent is the right one",
                severity=Severity.WARNING,
            )
    for key in dialect.files:
        _check_file(values.get(key), key, inspection)
    known = frozenset(dialect.schema.get("properties", {}))
    if dialect.refused_keys:
        _report_refused(values, known, dialect, judged)
    elif not dialect.is_closed:
        report_unknown_fields(
            values, known | dialect.unread.keys(), (), inspection, open_ended=True, of_others=KEYS_OF_CLIENTS
        )


def check_command(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Report `tools` of a command, which Claude Code reads in an agent alone."""
    if "tools" in values and "allowed-tools" not in values:
        inspection.report(
            rules.RESTRICTION_NOT_IN_FORCE,
            "Claude Code does not read `tools` in a command, so the command has every tool",
            ("tools",),
            key=True,
            help="write `allowed-tools`, for tools that need no question, or `disallowed-tools`",
            severity=Severity.INFO if _may_change(values["tools"]) or _is_of_copilot(values["tools"]) else None,
        )


def _check_file(value: Any, key: str, inspection: FileInspection) -> None:
    path = value.removeprefix("file://") if isinstance(value, str) and value.startswith("file://") else "/"
    if not path.startswith("/") and is_missing(inspection.file.path.parent, path):
        inspection.report(
            NAMED_FILE_MISSING,
            f"`{key}` names `{path}`, which is not there",
            (key,),
            help="the path begins in the folder of this file",
            severity=Severity.WARNING,
        )


def report_unread(key: str, values: Mapping[str, Any], advice: str, inspection: FileInspection) -> None:
    """Report a key that restricts tools in other clients, and not in the client of the file."""
    weak = not key.lower().startswith("dis") and _may_change(values[key])
    has_tools = "tools" in values and key != "tools"
    inspection.report(
        rules.RESTRICTION_NOT_IN_FORCE,
        f"{inspection.file.dialect.client} does not read `{key}` in an agent"
        + ("" if has_tools else ", so the agent has every tool"),
        (key,),
        key=True,
        help=advice,
        severity=Severity.INFO if weak and key == "tools" else None,
    )


def _may_change(tools: Any) -> bool:
    return not _CHANGING.isdisjoint(name.lower() for name, _ in names_in(tools))


def _is_of_copilot(tools: Any) -> bool:
    """Tell whether tools are written as GitHub Copilot has them: one file of a generator is for several clients."""
    return any("/" in name for name, _ in names_in(tools))


def _report_refused(
    values: Mapping[str, Any], known: frozenset[str], dialect: AgentDialect, inspection: FileInspection
) -> None:
    """Report unknown keys of a client that refuses them and whose keys change with its version."""
    for key in values.keys() - known - dialect.unread.keys():
        if re.match(dialect.refused_keys, str(key)):
            inspection.report(
                rules.UNKNOWN_FIELD,
                f"unknown field `{key}`",
                (key,),
                key=True,
                help=slip_of_key(str(key), known, present=values) or "delete it",
                severity=Severity.WARNING,
            )
