"""Settings of clients, by the rules of the client that reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.compiler.check.inspection import FileInspection, dotted
from octoc.compiler.check.schemas import validator_of_client
from octoc.compiler.check.translate import report_errors
from octoc.compiler.fixes.edits import replaced
from octoc.compiler.inputs.claude.paths import is_left_out, is_missing, is_missing_above, is_users_own
from octoc.compiler.inputs.settings.clients import SettingsDialect, values_at
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import UNKNOWN_FIELD
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.diagnostics.rules.lint_mcp import UNEXPANDED_REFERENCE
from octoc.diagnostics.rules.resolve import UNKNOWN_TOOL
from octoc.diagnostics.suggest import near_miss, slips_of
from octoc.lists import one_of

_PROSE = 5
"""Least words of a text that is not meant as a path."""
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
# Names in capitals are variables: other programs have references of their own, such as `${workspaceFolder}`.
_FOREIGN = re.compile(r"\$\{(?:env:)?(?P<name>[A-Z_][A-Z0-9_]*)(?::-[^{}]*)?\}")
_UNCLOSED = re.compile(r"(?:\{env:|\$\{)(?P<name>\w+)(?![\w}:])")
_OF_OPENCODE = re.compile(r"(?<!\$)\{env:(?P<name>\w+)\}")
_BARE = re.compile(r"\$(?P<name>[A-Z_][A-Z0-9_]*)\b")


def check_client_settings(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Report what the client refuses, files that are not there, near misses of its tools, and references as text."""
    dialect = inspection.file.dialect
    if not isinstance(dialect, SettingsDialect):
        return
    if dialect.schema:
        report_errors(validator_of_client(dialect).iter_errors(values), attrs.evolve(inspection, effect=dialect.effect))
    _check_list_of_servers(values, dialect, inspection)
    for pattern in dialect.files:
        for path, value in values_at(values, pattern):
            _check_file(value, path, dialect, inspection)
    for pattern in dialect.tools:
        for path, value in values_at(values, pattern):
            _check_tools(value, path, dialect, inspection)
    _check_slips(values, (), {pattern[0] for pattern in dialect.tools if len(pattern) == 1}, inspection)
    for pattern in dialect.agents:
        for path, value in values_at(values, pattern):
            _check_slips(value, path, {tool[-1] for tool in dialect.tools}, inspection)
    for pattern in dialect.texts:
        for path, value in values_at(values, pattern):
            _check_reference(value, path, dialect, inspection)


def _check_list_of_servers(values: Mapping[str, Any], dialect: SettingsDialect, inspection: FileInspection) -> None:
    wanted = dialect.server_list
    for key in sorted(map(str, values)) if wanted not in values else ():
        if isinstance(values.get(key), Mapping) and slips_of(key, (wanted,)):
            inspection.report(
                UNKNOWN_FIELD,
                f"{dialect.client} does not read `{key}`, so it has none of these servers",
                (key,),
                key=True,
                help=f"did you mean `{wanted}`?",
            )


def _check_slips(value: Any, path: KeyPath, known: set[str], inspection: FileInspection) -> None:
    """Report the keys of settings or of an agent that are slips of those that say what may be done, which are `known`.

    The client hands on any other key of an agent.
    """
    for key in map(str, value) if isinstance(value, Mapping) else ():
        near = slips_of(key, known - value.keys()) if key not in known else ()
        if near:
            where = " in an agent" if path else ""
            inspection.report(
                UNKNOWN_FIELD,
                f"{inspection.file.dialect.client} does not read `{key}`{where}",
                (*path, key),
                key=True,
                help=f"did you mean {one_of(near)}?",
            )


def _check_file(value: Any, path: KeyPath, dialect: SettingsDialect, inspection: FileInspection) -> None:
    if not isinstance(value, str) or "://" in value or _ABSOLUTE.match(value) or not value.strip():
        return
    if isinstance(path[-1], int) and not {"/", "."}.intersection(value):
        return  # a list also takes names
    file = inspection.file.path
    is_beside = dialect.based_on == "folder"
    if not is_beside and is_users_own(file.parent):
        return
    folder = file.parent if is_beside else Path(dialect.project_of(file) or file.parent)
    is_absent = is_missing_above if dialect.based_on == "above" else is_missing
    if not is_absent(folder, value) or is_left_out(Path(os.path.normpath(folder / value))):
        return
    is_prose = len(value.split()) >= _PROSE
    message = f"`{dotted(path)}` names `{value}`, which is not there"
    inspection.report(
        NAMED_FILE_MISSING,
        f"`{dotted(path)}` is text, and {dialect.client} expects the path of a file" if is_prose else message,
        path,
        help="write the text to a file, and name the file here"
        if is_prose
        else "paths begin in the folder of this file"
        if is_beside
        else "add it, or name another",
        severity=Severity.WARNING,
    )


def _check_tools(value: Any, path: KeyPath, dialect: SettingsDialect, inspection: FileInspection) -> None:
    for name in map(str, value) if isinstance(value, Mapping) else ():
        near = near_miss(name, dialect.builtin)
        if near is not None:
            at = Place(file=inspection.file.display, path=(*path, name), part="key")
            inspection.report(
                UNKNOWN_TOOL,
                f"{dialect.client} has no tool `{name}`",
                (*path, name),
                key=True,
                help=f"did you mean `{near}`?",
                severity=Severity.WARNING,
                fix=replaced(at, name, near, f"write `{near}`"),
            )


def _check_reference(value: Any, path: KeyPath, dialect: SettingsDialect, inspection: FileInspection) -> None:
    forms = (_FOREIGN, _OF_OPENCODE, _UNCLOSED) if dialect.variable else (_FOREIGN, _OF_OPENCODE, _BARE)
    matches = (match for form in forms for match in form.finditer(value)) if isinstance(value, str) else ()
    match = next((one for one in matches if not _is_replaced(one, dialect)), None)
    if match is not None:
        inspection.report(
            UNEXPANDED_REFERENCE,
            f"`{dotted(path)}` has a reference, which {dialect.client} passes on as text",
            path,
            help=f"write `{dialect.variable_named(match['name'])}`" if dialect.variable else "write the value itself",
        )


def _is_replaced(match: re.Match[str], dialect: SettingsDialect) -> bool:
    form = dialect.variable_named(match["name"])
    has_default = dialect.variable_with_default and match[0].startswith(f"{form[:-1]}:-")
    return match[0] == form or bool(form and has_default)
