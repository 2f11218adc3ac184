"""Settings of clients, by the rules of the client that reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.addresses import is_private_network, plain_http_host
from octoc.compiler.check.client_hooks import check_hooks
from octoc.compiler.check.client_lists import check_rules, check_unique
from octoc.compiler.check.inspection import FileInspection, dotted
from octoc.compiler.check.schemas import validator_of_client
from octoc.compiler.check.translate import report_errors
from octoc.compiler.check.versions import check_version
from octoc.compiler.fixes.edits import renamed, replaced
from octoc.compiler.inputs.agents.tool_lists import names_in
from octoc.compiler.inputs.claude.paths import is_left_out, is_missing, is_missing_above, is_users_own
from octoc.compiler.inputs.mcp.convert import READ_LISTS
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.registry import DIALECTS
from octoc.compiler.inputs.settings.clients import SettingsDialect, values_at
from octoc.compiler.read.values import texts_in
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import MISSING_KEY, UNKNOWN_FIELD
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.diagnostics.rules.lint import INSECURE_URL
from octoc.diagnostics.rules.lint_mcp import UNEXPANDED_REFERENCE
from octoc.diagnostics.rules.resolve import UNKNOWN_TOOL
from octoc.diagnostics.suggest import near_miss, near_misses, slips_of, slips_of_key
from octoc.lists import name_list, one_of

_Check = Callable[[Any, KeyPath, SettingsDialect, FileInspection], None]
_LISTS = frozenset({"mcpServers", "servers", *(one.server_list for one in DIALECTS if one.kind == MCP.name)})
"""Keys under which some client lists its servers."""
_PROSE = 5
"""Least words of a text that is not meant as a path."""
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
# Names in capitals are variables: other programs have references of their own, such as `${workspaceFolder}`.
_FOREIGN = re.compile(r"\$\{(?:env:)?(?P<name>[A-Z_][A-Z0-9_]*)(?::-[^{}]*)?\}")
# A name of a tool, before what it may be used for: `edit:write`, `run_shell_command(git)`.
_TOOL = re.compile(r"\w[\w-]*(?=[(:]|\Z)")
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
    checks: tuple[tuple[Iterable[tuple[str, ...]], _Check], ...] = (
        (dialect.files, _check_file),
        (dialect.tools, _check_tools),
        (dialect.addresses, _check_address),
        (dialect.texts, _check_reference),
    )
    for patterns, check in checks:
        for pattern in patterns:
            for path, value in values_at(values, pattern):
                check(value, path, dialect, inspection)
    _check_slips(values, dialect, inspection)
    _check_embedded(values, dialect, inspection)
    check_hooks(values, dialect, inspection)
    check_rules(values, dialect, inspection)
    check_unique(values, dialect, inspection)
    for pattern, taken in dialect.versions.items():
        for path, value in values_at(values, pattern):
            check_version(value, path, inspection, client=dialect.client, taken=taken)
    for pattern, needed in dialect.needed.items():
        for path, value in values_at(values, pattern):
            _check_needed(value, path, needed, inspection)


def _check_list_of_servers(values: Mapping[str, Any], dialect: SettingsDialect, inspection: FileInspection) -> None:
    """Report lists of servers under a slip of the client's key, or under another client's."""
    *above, wanted = dialect.server_list.split("/")
    for path, around in values_at(values, tuple(above)):
        for key in sorted(map(str, around)) if isinstance(around, Mapping) else ():
            value = around.get(key)
            is_slip = bool(slips_of(key, (wanted,)) or near_misses(key, (wanted,)))
            # A file of one list of another client's has it reported with its servers.
            # octoc reads a foreign list that is the file's only one, and reports it there.
            is_own_list = isinstance(around.get(wanted), Mapping) or key not in READ_LISTS
            is_foreign = key in _LISTS and is_own_list and _are_servers(value)
            if key != wanted and isinstance(value, Mapping) and (is_slip or is_foreign):
                inspection.report(
                    UNKNOWN_FIELD,
                    f"{dialect.client} does not read `{dotted((*path, key))}`, so it has none of these servers",
                    (*path, key),
                    key=True,
                    help=_move_advice(value, wanted, dialect) if wanted in around else f"did you mean `{wanted}`?",
                )


def _move_advice(servers: Mapping[str, Any], wanted: str, dialect: SettingsDialect) -> str:
    name = next(iter(servers), "")
    return f"write `[{wanted}.{name}]`" if dialect.syntax == "toml" and name else f"move them into `{wanted}`"


def _are_servers(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(one, Mapping) and not {"command", "url"}.isdisjoint(one) for one in value.values())
    )


def _check_slips(values: Mapping[str, Any], dialect: SettingsDialect, inspection: FileInspection) -> None:
    """Report the keys that are slips of those that the client reads.

    A singular of one word may be a key of another program, except for a list at the root of the file.
    """
    for pattern, known in dialect.known_keys.items():
        # A slip of the list of servers is reported with its servers.
        meant = known if pattern else known - {dialect.server_list}
        for path, value in values_at(values, pattern):
            for key in map(str, value.keys() - known) if isinstance(value, Mapping) else ():
                absent = meant - value.keys()
                slips = slips_of_key(key, absent) or near_misses(key, absent)
                near = [
                    one
                    for one in slips
                    if one != f"{key}s" or "_" in key or (not path and isinstance(value[key], list))
                ]
                if near:
                    where = f" in `{dotted(path)}`" if path else ""
                    inspection.report(
                        UNKNOWN_FIELD,
                        f"{dialect.client} does not read `{key}`{where}",
                        (*path, key),
                        key=True,
                        help=f"did you mean {one_of(near)}?",
                        fix=renamed(Place(file=inspection.file.display, path=(*path, key), part="key"), key, near),
                    )


def _check_needed(value: Any, path: KeyPath, needed: Mapping[str, str], inspection: FileInspection) -> None:
    """Report an object without keys that the client needs, and which of its own keys is likely meant."""
    if not isinstance(value, Mapping):
        return
    own = list(map(str, value))
    # A slip of the key is reported as one.
    lacking = [key for key in needed if not any(one == key or _is_slip(one, key) for one in own)]
    for effect in dict.fromkeys(needed[key] for key in lacking):
        keys = [key for key in lacking if needed[key] == effect]
        other = next((one for one in own if len(keys) == 1 and keys[0].lower().startswith(one.lower())), None)
        names = name_list(keys)
        inspection.report(
            MISSING_KEY,
            f"`{dotted(path)}` has no {names}: {inspection.file.dialect.client} {effect}",
            path if other is None else (*path, other),
            key=other is not None,
            help=f"add {names}" if other is None else f"call `{other}` {names}",
            severity=Severity.WARNING,
        )


def _is_slip(key: str, known: str) -> bool:
    return bool(slips_of_key(key, (known,)) or near_misses(key, (known,)))


def _check_address(value: Any, path: KeyPath, _: SettingsDialect, inspection: FileInspection) -> None:
    """Report an address of plain http on another machine; inside a private network it is usual."""
    host = plain_http_host(value) if isinstance(value, str) else None
    if host is not None:
        inspection.report(
            INSECURE_URL,
            f"`{dotted(path)}` is reached over plain http, which shows its credentials to the network",
            path,
            help="use https",
            severity=Severity.INFO if is_private_network(host) else Severity.WARNING,
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
    top = inspection.file.root
    is_absent = is_missing_above(folder, value, top) if dialect.based_on == "above" else is_missing(folder, value)
    # Some clients take a path from the folder of the file.
    if (
        not is_absent
        or os.path.lexists(file.parent / value)
        or is_left_out(Path(os.path.normpath(folder / value)), top)
    ):
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


def _check_embedded(values: Mapping[str, Any], dialect: SettingsDialect, inspection: FileInspection) -> None:
    """Report references to files beside the settings that are not there."""
    folder = inspection.file.path.parent
    for path, text in texts_in(values, ()) if dialect.embeds and not is_users_own(folder) else ():
        for written in re.findall(dialect.embeds, text):
            name = written.strip()
            if _ABSOLUTE.match(name) or name.startswith("~") or not is_missing(folder, name):
                continue
            if not is_left_out(Path(os.path.normpath(folder / name)), inspection.file.root):
                inspection.report(
                    NAMED_FILE_MISSING,
                    f"`{dotted(path)}` takes the text of `{name}`, which is not there",
                    path,
                    help="paths begin in the folder of this file",
                    severity=Severity.WARNING,
                )


def _check_tools(value: Any, path: KeyPath, dialect: SettingsDialect, inspection: FileInspection) -> None:
    is_key = isinstance(value, Mapping)
    for text, step in names_in(value) if isinstance(value, Mapping | list) else ():
        name = _TOOL.match(text)
        near = near_miss(name[0], dialect.builtin) if name is not None else None
        if name is not None and near is not None:
            at = Place(file=inspection.file.display, path=(*path, *step), part="key" if is_key else "value")
            inspection.report(
                UNKNOWN_TOOL,
                f"{dialect.client} has no tool `{name[0]}`",
                (*path, *step),
                key=is_key,
                help=f"did you mean `{near}`?",
                severity=Severity.WARNING,
                fix=replaced(at, name[0], near, f"write `{near}`"),
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
