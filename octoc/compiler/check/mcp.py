"""What the schema of `.mcp.json` cannot say: which client reads which key, transports, and fields without effect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from octoc.compiler.check.auth import check_auth
from octoc.compiler.check.fields import report_unknown_fields, word_for
from octoc.compiler.check.inspection import FileInspection, dotted
from octoc.compiler.check.installers import is_installed
from octoc.compiler.check.schemas import fields
from octoc.compiler.check.transports import check_transport
from octoc.compiler.check.working_folder import check_working_folder
from octoc.compiler.fixes.edits import MakeFix, inserted_before, replaced
from octoc.compiler.inputs.claude.paths import is_users_own
from octoc.compiler.inputs.mcp.claude import MCP_FILE
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.mcp.unnamed import UNNAMED
from octoc.compiler.inputs.mcp.vscode import VSCODE
from octoc.compiler.inputs.registry import DIALECTS
from octoc.compiler.workspace.paths import WORKSPACE_FILE
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.rules.lint_mcp import NESTED_REFERENCE, UNEXPANDED_REFERENCE
from octoc.diagnostics.rules.read import DUPLICATE_KEY
from octoc.diagnostics.suggest import near_names, slip_of_key, slips_of
from octoc.plugin.file_kinds import Converted
from octoc.transport_kinds import kind_of_definition

_FOLDER_OF_CLAUDE = re.compile(r"\$\{CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT)\}")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
LEAST_TIMEOUT_MS = 1000
"""Claude Code ignores a `timeout` below this many milliseconds."""

_STARTS = frozenset({"command", "url", "serverUrl", "httpUrl"})
_SETTINGS = frozenset({"settings"})
"""What only definitions of a plugin's transport kind have."""
_OF_OTHERS = frozenset({"timeout_ms"}) | frozenset(
    key
    for dialect in DIALECTS
    if dialect.kind == MCP.name
    for key in (*dialect.unused, *dialect.renames, *dialect.fields)
)
"""Keys of servers that some client reads."""
_OTHER_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("argument", "arguments", "argv", "parameters", "params"), "args"),
    **dict.fromkeys(("environment", "environmentVariables", "environment_variables", "envVars", "envs"), "env"),
    **dict.fromkeys(("httpHeaders", "http_headers", "requestHeaders"), "headers"),
}
"""What people write for a key of a server -> the key; without it the server starts in another way than they mean."""
_UNUSED = {
    "headersHelper": ("octoc does not run `headersHelper`", "put references such as `${TOKEN}` into `headers`"),
    "sandbox": ("octoc does not sandbox a server", None),
    "sandboxEnabled": ("octoc does not sandbox a server", None),
}


def is_of_other_program(values: Mapping[str, Any], inspection: FileInspection) -> bool:
    """Tell whether a file has a list of servers as other programs do, under a key of theirs in a client's file."""
    if inspection.file.dialect is UNNAMED and isinstance(values.get("mcpServers"), list):
        return True
    key = next((key for key in ("servers", "mcpServers") if isinstance(values.get(key), list)), None)
    if key is None:
        return False
    written = str(inspection.origin((key,))[0])
    is_foreign = written != inspection.file.dialect.server_list.partition("/")[0]
    if is_foreign:
        _report_foreign_list(written, key, values[key], inspection)
    return is_foreign


def check_mcp(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a file of the `.mcp.json` family whose schema is met; one unsound server is cut, not the others."""
    dialect = inspection.file.dialect
    outside = _outside_list(values) if {"mcpServers", "servers"} & values.keys() else frozenset()
    report_unknown_fields(values, fields(MCP) | outside, (), inspection, open_ended=True)
    if "mcpServers" in values and "servers" in values:
        inspection.report(
            rules.TWO_SERVER_LISTS,
            "the file has both `mcpServers` and `servers`",
            ("servers",),
            key=True,
            cut=(),
            related={"`mcpServers` is here": ("mcpServers",)},
            help="keep `servers` in VS Code's own file, and `mcpServers` in every other",
        )
        return
    if "mcpServers" not in values and "servers" not in values:
        near = [key for key in values if near_names(str(key), ("mcpServers", "servers"))]
        wanted = dialect.server_list
        inspection.report(
            rules.MISSING_KEY,
            f"the file has no `{wanted}`",
            (),
            help=_list_advice(near[0], values[near[0]], wanted)
            if near
            else f"add `{wanted}`, an object of servers by name",
            # VS Code's file may hold inputs alone, a client's file its settings; an empty object wants no server.
            severity=None if near or _outside_list(values) else Severity.WARNING,
        )
        return
    key = "servers" if "servers" in values else "mcpServers"
    (written, *_) = inspection.origin((key,)) or (dialect.server_list,)
    is_foreign = written != dialect.server_list.partition("/")[0] and not dialect.takes_any_list
    if is_foreign:
        _report_foreign_list(str(written), key, values[key], inspection)
    for name, entry in values[key].items():
        check_entry(name, entry, (key, name), inspection)
    for name in sorted(outside):
        inspection.report(
            rules.SERVER_OUTSIDE_LIST,
            f"server `{name}` stands outside `{written}`, where {dialect.client} does not look for it",
            (name,),
            key=True,
            help=f"move it into `{written}`",
        )
    if dialect.declares_inputs:
        _check_defaults(values.get("inputs", ()), inspection)
    instead = dialect.read_instead_of(inspection.file.path)
    if instead and written == dialect.server_list and values[key]:
        _report_place(key, instead, inspection)
    # The servers of a foreign list have the other client's form, too: that is the same mistake.
    if not is_foreign:
        _check_unread(inspection)


def _report_foreign_list(written: str, key: str, value: Any, inspection: FileInspection) -> None:
    dialect = inspection.file.dialect
    inspection.report(
        rules.FOREIGN_SERVER_LIST,
        f"`{written}` is {VSCODE.client}'s key: {dialect.client} reads `{dialect.server_list}`"
        if written == VSCODE.server_list
        else f"{dialect.client} reads `{dialect.server_list}`, and not `{written}`",
        (key,),
        key=True,
        help=f"write `{dialect.server_list}`, an object of servers by name"
        if isinstance(value, list) and not dialect.is_list
        else f"rename it to `{dialect.server_list}`{_form_advice(inspection)}",
    )


def _form_advice(inspection: FileInspection) -> str:
    """Return what else a list of another client needs in the file, as the end of a sentence."""
    converted, client = inspection.converted, inspection.file.dialect.client
    is_other = converted is not None and (
        converted.missing or converted.wrong or converted.unknown or converted.literal
    )
    return f", and write its servers and references as {client} does" if is_other else ""


def _list_advice(key: str, value: Any, wanted: str) -> str:
    inner = next((one for one in ("servers", "mcpServers") if isinstance(value, Mapping) and one in value), None)
    return f"rename `{key}` to `{wanted}`" if inner is None else f"move the servers of `{key}.{inner}` into `{wanted}`"


def _report_place(key: str, instead: str, inspection: FileInspection) -> None:
    """Report that the client reads the file `instead`.

    One of the project beside it makes this a copy, or a reserve; a user's file outside of a client's folder is there to
    be copied, and a container or a script may copy another one.
    """
    file, dialect = inspection.file, inspection.file.dialect
    project = Path(dialect.project_of(file.path) or file.path.parent)
    is_of_user = instead.startswith("~")
    more = f"; {dialect.unread_advice}" if dialect.unread_advice else ""
    # octoc itself reads the file where a workspace names it.
    more = f"; {dialect.unread_advice}" if dialect.unread_advice else ""
    is_of_workspace = is_of_user and (project / WORKSPACE_FILE).is_file()
    if project == Path.home() or is_users_own(project) or is_of_workspace:
        return
    is_meant = (
        not _is_in_hidden_folder(file.path) or is_installed(project, instead)
        if is_of_user
        else (project / instead).exists()
    )
    inspection.report(
        rules.UNREAD_SERVER_FILE,
        f"{dialect.client} does not read this file by itself: "
        + (f"it reads the user's `{instead}`" if is_of_user else f"servers of a project stand in `{instead}`"),
        (key,),
        key=True,
        help=f"tell people to copy its servers there{more}"
        if is_of_user
        else f"move it to `{instead}` in the project's folder"
        + (", or start the client with this file" if instead == MCP_FILE else ""),
        severity=Severity.INFO if is_meant else None,
    )


def _check_defaults(inputs: Iterable[Any], inspection: FileInspection) -> None:
    """Report inputs whose default is a reference to themselves, which the client does not replace."""
    for index, entry in enumerate(inputs):
        default = entry.get("default") if isinstance(entry, Mapping) else None
        if isinstance(default, str) and default == f"${{input:{entry.get('id')}}}":
            inspection.report(
                NESTED_REFERENCE,
                f"the default of input `{entry['id']}` is a reference to the input itself",
                ("inputs", index, "default"),
                help="write a default that is plain text, or delete it",
            )


def _is_in_hidden_folder(path: Path) -> bool:
    return path.parent.name.startswith(".")


def _outside_list(values: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys beside the list of servers whose values are servers."""
    return frozenset(
        key
        for key, value in values.items()
        if key not in fields(MCP) and isinstance(value, Mapping) and not _STARTS.isdisjoint(value)
    )


def _check_unread(inspection: FileInspection) -> None:
    """Report keys of servers that the file's client does not read, and references that it does not replace."""
    dialect, converted = inspection.file.dialect, inspection.converted
    if converted is None:
        return
    # In a list of servers the client's path has an index.
    names = {outer: inner[1] for inner, outer in converted.moved.items() if len(inner) == len(("mcpServers", "name"))}
    for name in converted.values["mcpServers"] if dialect.refuses_other_names else ():
        at = converted.origin(("mcpServers", name))
        if not _PLAIN_NAME.fullmatch(str(at[-1])):
            inspection.report(
                rules.BAD_NAME,
                f"{dialect.client} does not start server `{at[-1]}`: a name may have letters, digits, `-` and `_`",
                at,
                key=True,
                help=f"call it `{'-'.join(_PLAIN_NAME.findall(str(at[-1]))) or 'server'}`",
            )
    for path in converted.unknown:
        step, key = path[-2:]
        name = names.get(path[:-1], step)
        present = {
            converted.origin(("mcpServers", name, field))[len(path) - 1]
            for field in converted.values["mcpServers"].get(name, ())
        }
        word = word_for(str(key), _OTHER_WORDS)
        own = next((theirs for theirs, ours in dialect.renames.items() if ours == key), None)
        advice = (
            dialect.hints.get(str(key))
            or slip_of_key(str(key), dialect.fields, present)
            or next((dialect.hints[one] for one in slips_of(str(key), dialect.hints)), None)
        )
        if advice is None and own is not None and own not in present:
            advice = f"did you mean `{own}`?"
        if advice is None and word in dialect.fields and word not in present:
            advice = f"did you mean `{word}`?"
        inspection.report(
            rules.UNKNOWN_FIELD,
            f"{dialect.client} does not read `{key}` of server `{name}`",
            path,
            key=True,
            help=advice,
            severity=None if advice else Severity.INFO,
        )
    for path in converted.elsewhere if dialect.defined_by else ():
        inspection.report(
            rules.INCOMPLETE_SERVER,
            f"server `{path[-1]}` has neither `command` nor `url`, so {dialect.defined_by} must define it",
            path,
            key=True,
            help="add the one or the other where nothing else defines the server",
            severity=Severity.INFO,
        )
    _report_twice(converted, inspection)
    for path, missing in converted.missing:
        inspection.report(
            rules.MISSING_KEY,
            f"server `{path[-1]}` has no `{missing}`, and {dialect.client} skips it",
            path,
            key=True,
            help=f"add `{missing}`",
        )
    for path in converted.literal:
        inspection.report(
            UNEXPANDED_REFERENCE,
            f"`{dotted(path)}` has a reference, which {dialect.client} passes on as text",
            path,
            help=dialect.secret_advice or f"write `{dialect.variable}`",
        )
    for path, expected in converted.wrong:
        inspection.report(
            rules.WRONG_TYPE,
            f"{dialect.client} expects {expected} as `{path[-1]}` of server `{names.get(path[:-1], path[-2])}`",
            path,
        )
    for path, word in converted.refused:
        is_refused = word in dialect.refused_types
        instead = dialect.refused_types[word] if is_refused else dialect.marked_types[word]
        inspection.report(
            rules.REFUSED_TYPE,
            f"{dialect.client} {'refuses' if is_refused else 'marks'} `{word}` as the `type` of server "
            f"`{names.get(path[:-1], path[-2])}`",
            path,
            help=f"write `{instead}`",
            severity=None if is_refused else Severity.WARNING,
            fix=replaced(Place(file=inspection.file.display, path=path), word, instead, f"write `{instead}`"),
        )


def _report_twice(converted: Converted, inspection: FileInspection) -> None:
    client = inspection.file.dialect.client
    for name, path, first in converted.twice:
        inspection.report(
            DUPLICATE_KEY,
            f"two servers of the list are called `{name}`, and {client} tells servers by their names",
            path,
            related={"the first one is here": first},
            help="rename one of them, or delete it",
            severity=Severity.WARNING,
        )


def check_entry(name: str, entry: Mapping[str, Any], path: KeyPath, inspection: FileInspection) -> None:
    """Check one server of a `.mcp.json`, or of an agent's `mcpServers`, whose schema is met."""
    dialect = inspection.file.dialect
    kind = inspection.kinds.get(kind_of_definition(entry) or "")
    unknown = _SETTINGS if kind is not None and kind.settings is None else frozenset()
    known = fields(MCP, "$defs", "server") - unknown
    report_unknown_fields(
        entry,
        known | dialect.unused | dialect.renames.keys(),
        path,
        inspection,
        open_ended=True,
        of_others=_OF_OTHERS,
        other_words=_OTHER_WORDS,
    )
    if not check_transport(name, entry, path, inspection):
        return
    if "url" in entry and "type" not in entry and not dialect.infers_transport:
        inspection.report(
            rules.UNTYPED_URL,
            f"server `{name}` has a `url` and no `type`: {dialect.client} skips it",
            (*path, "url"),
            key=True,
            help=dialect.url_advice or _type_advice(entry["url"]),
            fix=None if dialect.url_advice else _typed(path, inspection, entry["url"]),
        )
    if "include_tools" in entry and "toolFilter" in entry:
        inspection.report(
            rules.TWO_TOOL_FILTERS,
            f"server `{name}` has both `include_tools` and `toolFilter`",
            (*path, "toolFilter"),
            key=True,
            cut=path,
            related={"`include_tools` is here": (*path, "include_tools")},
            help="keep one of them",
        )
    is_short = dialect.skips_short_timeouts and entry.get("timeout", LEAST_TIMEOUT_MS) < LEAST_TIMEOUT_MS
    if is_short and "timeoutMs" not in entry:
        inspection.report(
            rules.IGNORED_TIMEOUT,
            f"`timeout` is {entry['timeout']} milliseconds: below {LEAST_TIMEOUT_MS} it is ignored",
            (*path, "timeout"),
            help=f"write milliseconds, as {LEAST_TIMEOUT_MS * 60}",
        )
    if "cwd" in dialect.ignored and "cwd" in entry:
        check_working_folder(name, entry, path, inspection)
    for field, (message, advice) in _UNUSED.items():
        if field in entry:
            # The file's client acts on it.
            inspection.report(
                rules.UNUSED_FIELD, message, (*path, field), key=True, help=advice, severity=Severity.INFO
            )
    if entry.get("alwaysLoad") is True:
        inspection.report(
            rules.UNUSED_FIELD,
            "octoc does not act on `alwaysLoad`: the server's tools are found like any other",
            (*path, "alwaysLoad"),
            key=True,
            help="name the tools in an agent's `tools` to have them in its prompt",
            severity=Severity.INFO,
        )
    if dialect.folder:
        _check_folder(entry, path, inspection)
    check_auth(name, entry, path, inspection)
    for variable, value in entry.get("env", {}).items():
        if value is not None and not isinstance(value, str) and not dialect.takes_numbers:
            inspection.report(
                rules.ENV_NUMBER,
                f"variable `{variable}` is a number, which {dialect.client} refuses",
                (*path, "env", variable),
                help="put it in quotes",
            )


def _check_folder(entry: Mapping[str, Any], path: KeyPath, inspection: FileInspection) -> None:
    """Report a folder in the command line as Claude Code names it; other texts with references are reported before."""
    dialect = inspection.file.dialect
    args = [((*path, "args", index), text) for index, text in enumerate(entry.get("args", ()))]
    for at, text in [((*path, "command"), entry.get("command")), *args]:
        match = _FOLDER_OF_CLAUDE.search(text) if isinstance(text, str) else None
        if match is not None:
            inspection.report(
                UNEXPANDED_REFERENCE,
                f"`{inspection.dotted(at)}` has `{match[0]}`, which {dialect.client} passes on as text",
                at,
                help=f"write `{dialect.folder}`",
            )


def _typed(path: KeyPath, inspection: FileInspection, url: str) -> MakeFix | None:
    if not inspection.file.display.endswith(".json") or _is_sse(url):
        return None
    place = Place(file=inspection.file.display, path=(*path, "url"), part="key")
    return inserted_before(place, '"type": "http", ', 'add `"type": "http"`')


def _type_advice(url: str) -> str:
    if _is_sse(url):
        return 'add `"type": "sse"`, or take the server\'s address of Streamable HTTP, with `"type": "http"`'
    return 'add `"type": "http"`'


def _is_sse(url: str) -> bool:
    # The older transport's usual address; which of the two it speaks is not ours to say.
    return url.rstrip("/").endswith("/sse")
