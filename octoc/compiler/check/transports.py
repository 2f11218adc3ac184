"""How a server is reached, from what its definition says and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.translate import report_errors, report_not_allowed
from octoc.compiler.check.type_words import words_of_type
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.rules.plugin import TRANSPORT_KIND_REFUSED
from octoc.diagnostics.rules.resolve import LITERAL_SECRET
from octoc.references import find_references
from octoc.transport_kinds import TransportKind, kind_by_field, kind_of_definition, words_for

_CHANGES = frozenset(
    {"disabled", "enabled", "timeout", "timeoutMs", "include_tools", "exclude_tools", "env", "headers"}
)


def check_transport(name: str, entry: Mapping[str, Any], path: KeyPath, inspection: FileInspection) -> bool:
    """Report a definition that says too much or too little to connect; it is cut. Return whether it is sound."""
    if "command" in entry and "url" in entry:
        # The odd one is what its `type` has no use for; without one, clients start the command.
        is_remote = isinstance(entry.get("type"), str) and entry["type"] in words_for("url")
        odd, other, what = ("command", "url", "address") if is_remote else ("url", "command", "command")
        inspection.report(
            rules.AMBIGUOUS_TRANSPORT,
            f"server `{name}` has both `command` and `url`",
            (*path, odd),
            key=True,
            cut=path,
            related={f"the {what} is here": (*path, other)},
            help="keep `command` for a local program, or `url` for a remote server",
        )
        return False
    key = kind_of_definition(entry)
    if key is None:
        inspection.report(
            rules.INCOMPLETE_SERVER,
            f"server `{name}` has neither `command` nor `url`",
            path,
            cut=path,
            help="add `command` for a local program, or `type` and `url` for a remote server",
            severity=Severity.INFO
            if name.startswith(("$", "_"))  # a note, or a shelf of servers that are switched off
            or _changes_another(name, entry, inspection)
            or _is_of_own_program(entry, inspection)
            else None,
        )
        return False
    kind = inspection.kinds.get(key)
    if kind is None:
        words = words_of_type(entry, inspection)
        report_not_allowed(
            key,
            words.allowed,
            rules.UNKNOWN_TRANSPORT,
            (*path, "type"),
            inspection,
            meant=words.fitting,
            advice=words.advice,
        )
        return False
    if kind.needs is None or kind.needs in entry:
        return _check_settings(name, entry, kind, path, inspection)
    other = "url" if kind.needs == "command" else "command"
    inspection.report(
        rules.INCOMPLETE_SERVER,
        f"server `{name}` is `{key}` and has no `{kind.needs}`",
        path,
        cut=path,
        help=f'it has a `{other}`: change `type` to "{kind_by_field(other)}"'
        if other in entry
        else f"add `{kind.needs}`",
    )
    return False


def _changes_another(name: str, entry: Mapping[str, Any], inspection: FileInspection) -> bool:
    """Tell whether a definition without an address may change one of the same name in the user's own settings."""
    unknown = () if inspection.converted is None else inspection.converted.unknown
    is_change = entry.keys() <= _CHANGES and all(name not in path for path in unknown)
    return bool(entry) and is_change and inspection.file.dialect.is_settings


def _is_of_own_program(entry: Mapping[str, Any], inspection: FileInspection) -> bool:
    """Tell whether a program of the project reads a definition below its folder: it calls the address as no client."""
    return "/" in inspection.file.display and str(entry.get("baseUrl")).startswith(("http://", "https://"))


def _check_settings(
    name: str, entry: Mapping[str, Any], kind: TransportKind, path: KeyPath, inspection: FileInspection
) -> bool:
    """Check a definition's `settings` by the schema of its kind; what is unsound cuts the server."""
    if kind.settings is None:
        return True
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(kind.settings)
    except SchemaError as error:
        inspection.report(
            TRANSPORT_KIND_REFUSED,
            f"the schema of transport kind `{kind.key}`, which server `{name}` has, is unsound: {error.message}",
            (*path, "type"),
            cut=path,
            help="report it to the plugin's author",
        )
        return False
    literal = [key for key in kind.secrets if not find_references(str(entry.get("settings", {}).get(key) or "${A}"))]
    for key in literal:
        inspection.report(
            LITERAL_SECRET,
            f"server `{name}` has a literal secret in `settings.{key}`",
            (*path, "settings", key),
            cut=path,
            help="set a variable to it and write `${NAME}` in its place",
            severity=Severity.ERROR,
        )
    errors = list(Draft202012Validator(kind.settings).iter_errors(entry.get("settings", {})))
    report_errors(errors, inspection, (*path, "settings"))
    return not errors and not literal
