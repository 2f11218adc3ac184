"""What the schema of a plugin's manifest cannot say: paths, files that are not there, and slips of keys.

Source: Claude Code, plugins reference, and `claude plugin validate` (2.1.240): `agents`, `hooks` and `mcpServers` take
files with their endings, `commands` files and folders, `skills` folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.schemas import fields
from octoc.compiler.check.versions import check_version
from octoc.compiler.fixes.edits import replaced
from octoc.compiler.inputs.claude.hooks import check_hooks
from octoc.compiler.inputs.claude.paths import elsewhere, is_link_text, is_missing
from octoc.compiler.inputs.claude.plugin import CLAUDE_PLUGIN
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import BAD_NAME, UNEXPECTED_VALUE, UNKNOWN_FIELD
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING, PLUGIN_PATH_REFUSED
from octoc.diagnostics.suggest import slips_of
from octoc.lists import one_of

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_OPTION_TYPES = ("string", "number", "boolean", "directory", "file")
_SECRET_TYPES = frozenset({"secret", "password"})
_PATH_FIELDS = ("commands", "agents", "skills", "hooks", "mcpServers", "lspServers", "outputStyles", "workflows")
_ENDINGS = {"agents": (".md",), "hooks": (".json",), "lspServers": (".json",), "mcpServers": (".json", ".mcpb", ".dxt")}
_LISTED = 4
"""Maximum number of a folder's files that a help names."""


def check_plugin(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a manifest whose schema is met."""
    folder = inspection.file.path.parent.parent
    known = fields(CLAUDE_PLUGIN)
    for key in sorted(values.keys() - known):
        near = slips_of(str(key), known)
        if near:
            inspection.report(
                UNKNOWN_FIELD,
                f"Claude Code does not read `{key}`",
                (key,),
                key=True,
                help=f"did you mean {one_of(near)}?",
            )
    check_name(values.get("name"), ("name",), inspection)
    check_version(values.get("version"), ("version",), inspection, client="Claude Code")
    check_components(values, (), folder, inspection)
    _check_options(values.get("userConfig"), inspection)
    if isinstance(values.get("hooks"), Mapping):
        hooks = values["hooks"]
        inner = hooks.get("hooks")
        nested = isinstance(inner, Mapping)
        check_hooks(inner if nested else hooks, ("hooks", "hooks") if nested else ("hooks",), inspection, folder)


def _check_options(options: Any, inspection: FileInspection) -> None:
    """Report a type of a value that the user is asked for, which makes Claude Code refuse the manifest."""
    for name, option in options.items() if isinstance(options, Mapping) else ():
        kind = option.get("type") if isinstance(option, Mapping) else None
        if isinstance(kind, str) and kind not in _OPTION_TYPES:
            inspection.report(
                UNEXPECTED_VALUE,
                f"unknown `type` of an option, `{kind}`: expected {one_of(_OPTION_TYPES)}",
                ("userConfig", name, "type"),
                help='write `"type": "string", "sensitive": true`' if kind in _SECRET_TYPES else None,
            )


def check_name(name: Any, path: KeyPath, inspection: FileInspection) -> None:
    """Report a name of a plugin or a marketplace that clients refuse."""
    if not isinstance(name, str) or _NAME.fullmatch(name):
        return
    is_refused = " " in name
    client = "Claude Code" if is_refused else "Claude Desktop"
    inspection.sink.report(
        BAD_NAME,
        f"`{' '.join(name.split())}` is not a valid name: {client} refuses it",
        at=Place(file=inspection.file.display, path=path),
        help="write lower-case words joined by `-`",
        severity=None if is_refused else Severity.WARNING,
        subject=inspection.file.display,
    )


def check_components(values: Mapping[str, Any], path: KeyPath, folder: Path, inspection: FileInspection) -> None:
    """Check the paths in a manifest, or in the entry of a marketplace at `path`.

    Args:
        folder: the plugin's.
    """
    for field in _PATH_FIELDS:
        named = [one for one in _paths(values.get(field), (*path, field)) if "://" not in one[1]]
        for where, text in named:
            needs_file = not text.endswith(_ENDINGS.get(field, ("",)))
            advice = _advice(field, text, folder) if needs_file else ""
            if check_path(text, where, inspection, fixes=len(named) == 1, advice=advice):
                _check_component(field, text, where, folder, inspection)


def check_path(text: str, path: KeyPath, inspection: FileInspection, *, fixes: bool = True, advice: str = "") -> bool:
    """Report a path that the client refuses; return whether it is sound.

    Args:
        fixes: attach the fix; without it, the findings of one list are one.
        advice: what to write where `./` alone would not do.
    """
    parts = text.split("/")
    if parts[0] == "." and ".." not in parts:
        return True
    is_plain = ".." not in parts and text != "" and text[0] not in "/~.$\\" and ":" not in text
    place = Place(file=inspection.file.display, path=path)
    inspection.sink.report(
        PLUGIN_PATH_REFUSED,
        f"`{text}` has a `..`, and Claude Code refuses it"
        if ".." in parts
        else f"`{text}` does not begin with `./`, and Claude Code refuses it",
        at=place,
        help=advice
        or (f"write `./{text}`" if is_plain else "write a path inside of the plugin's folder that begins with `./`"),
        fix=replaced(place, text, f"./{text}", f"write `./{text}`") if is_plain and fixes and not advice else None,
        subject=f"{inspection.file.display}:{path[:-1]}",
    )
    return False


def _check_component(field: str, text: str, path: KeyPath, folder: Path, inspection: FileInspection) -> None:
    if is_link_text(folder / text) and not Path(text).suffix:
        return
    if is_missing(folder, text):
        inspection.sink.report(
            NAMED_FILE_MISSING,
            f"`{inspection.dotted(path)}` names `{text}`, which is not there",
            at=Place(file=inspection.file.display, path=path),
            help=elsewhere(folder, text) or "paths begin in the plugin's folder, and not in that of the manifest",
            subject=inspection.file.display,
        )
        return
    endings = _ENDINGS.get(field, ())
    if endings and not text.endswith(endings):
        inspection.report(
            PLUGIN_PATH_REFUSED,
            f"`{field}` takes `{endings[0]}` files: Claude Code refuses `{text}`",
            path,
            help=_advice(field, text, folder),
        )
    elif field == "skills" and (folder / text).is_file():
        inspection.report(
            PLUGIN_PATH_REFUSED,
            f"`{text}` is a file, and Claude Code expects a folder of skills",
            path,
            help=f"write `{text.rpartition('/')[0]}`",
        )


def _advice(field: str, text: str, folder: Path) -> str:
    """Return what to write where Claude Code takes files alone, and `text` names none that it takes."""
    path = PurePosixPath(text.removeprefix("./"))
    if field == "agents" and str(path) == field:
        return "delete `agents`: Claude Code reads the files of `agents/` by itself"
    ending = _ENDINGS[field][0]
    files = sorted(one.name for one in (folder / path).glob(f"*{ending}")) if ".." not in path.parts else []
    if not files or len(files) > _LISTED:
        return f"name each file, which ends with `{ending}`"
    names = ", ".join(f'"./{path / name}"' for name in files)
    return f"write `[{names}]`" if len(files) > 1 else f"write `{names[1:-1]}`"


def _paths(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        yield from (((*path, index), item) for index, item in enumerate(value) if isinstance(item, str))
