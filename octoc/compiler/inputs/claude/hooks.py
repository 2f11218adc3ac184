"""Hooks in settings and of a plugin: events, matchers, kinds, and the scripts that they run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.fixes.edits import renamed
from octoc.compiler.inputs.claude.paths import elsewhere, is_missing, scope_of, script_of, values_of
from octoc.compiler.inputs.claude.plugin import (
    CLAUDE_HOOKS,
    CLAUDE_PLUGIN,
    CURSOR_EVENTS,
    CURSOR_ONLY_EVENTS,
    HOOKS_FILE,
    PLUGIN_FILE,
    UNREAD_HOOKS_FILE,
)
from octoc.compiler.inputs.claude.settings import CLAUDE_SETTINGS, SETTINGS_FILE
from octoc.compiler.inputs.claude.tools import EVENTS, HOOK_FIELDS, OTHER_NAMES, TOOL_EVENTS, TOOLS, VERSION, nearest
from octoc.compiler.inputs.settings.clients import values_at
from octoc.compiler.inputs.settings.plugins import CODEX_PLUGIN_FILE, CURSOR_PLUGIN_FILE
from octoc.compiler.model.documents import FoundFile
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rules.check import MISSING_KEY, UNEXPECTED_VALUE, WRONG_TYPE
from octoc.diagnostics.rules.claude import HOOK_NEVER_RUNS, NAMED_FILE_MISSING
from octoc.diagnostics.rules.lint_mcp import UNEXPANDED_REFERENCE
from octoc.lists import one_of

_OF_PLUGINS = (CLAUDE_HOOKS, CLAUDE_PLUGIN)
_UNCLOSED = re.compile(r"\$\{[A-Za-z_]\w*(?=[/\\\"\s]|\Z)")
_NAMES = re.compile(r"\^?\(?(?P<names>[A-Za-z_]+(?:\|[A-Za-z_]+)*)\)?\$?")
_OTHER_CLIENTS = (CODEX_PLUGIN_FILE, CURSOR_PLUGIN_FILE, "gemini-extension.json", "qwen-extension.json")
"""Manifests beside which a plugin's hooks are for another client, too."""


def has_shared_hooks(file: FoundFile) -> bool:
    """Tell whether a file has hooks for everyone who uses a project or a plugin."""
    return file.kind in _OF_PLUGINS or (file.kind is CLAUDE_SETTINGS and scope_of(file.path) == "project")


def root_of_hooks(file: FoundFile) -> str:
    """Return the variable of the folder that the paths of hooks begin in."""
    return "${CLAUDE_PLUGIN_ROOT}" if file.kind in _OF_PLUGINS else "$CLAUDE_PROJECT_DIR"


def is_of_other_client(values: Mapping[str, Any], inspection: FileInspection) -> bool:
    """Tell whether a file of hooks is another client's, or one that Claude Code does not read, which is reported."""
    if inspection.file.path.match(UNREAD_HOOKS_FILE):
        _report_unread(values, inspection)
        return True
    plugin = _plugin_of(inspection)
    is_plugin = (plugin / PLUGIN_FILE).is_file()
    if not is_plugin and (plugin / CODEX_PLUGIN_FILE).is_file():
        _check_scripts(values, plugin, inspection)
    # Without a manifest, another program may merge events that stand at the root into its own file.
    is_whole = "hooks" in values and "CLAUDE_PLUGIN_ROOT" in str(values)
    return "version" in values or not (is_plugin or is_whole) or _is_of_cursor(values, plugin)


def _is_of_cursor(values: Mapping[str, Any], folder: Path) -> bool:
    """Tell whether a plugin's file of hooks has events of Cursor alone.

    Events such as `stop` may be slips of Claude Code's, unless Cursor's manifest names the file.
    """
    hooks = values.get("hooks")
    if not isinstance(hooks, Mapping) or not hooks or not hooks.keys() <= CURSOR_EVENTS | CURSOR_ONLY_EVENTS:
        return False
    named = values_of(folder / CURSOR_PLUGIN_FILE).get("hooks")
    return not CURSOR_ONLY_EVENTS.isdisjoint(hooks) or HOOKS_FILE in str(named)


def _check_scripts(values: Mapping[str, Any], plugin: Path, inspection: FileInspection) -> None:
    """Report scripts of a plugin of Codex, whose hooks have the same form, that are not there."""
    for path, command in values_at(values, ("hooks", "*", "*", "hooks", "*", "command")):
        script = script_of(command, plugin, of_plugin=True) if isinstance(command, str) else None
        if script is not None and is_missing(plugin, script):
            _report_script(script, path, plugin, inspection)


def _report_script(script: str, path: KeyPath, folder: Path, inspection: FileInspection) -> None:
    inspection.report(
        NAMED_FILE_MISSING,
        f"the hook runs `{script}`, which is not there",
        path,
        help=elsewhere(folder, script) or "add the file, or delete the hook",
    )


def _report_unread(values: Mapping[str, Any], inspection: FileInspection) -> None:
    events = values.get("hooks")
    manifest = str(values_of(_plugin_of(inspection) / PLUGIN_FILE).get("hooks"))
    if not isinstance(events, Mapping) or EVENTS.isdisjoint(events) or UNREAD_HOOKS_FILE in manifest:
        return
    inspection.report(
        HOOK_NEVER_RUNS,
        f"Claude Code does not read `{UNREAD_HOOKS_FILE}`, so its hooks never run",
        ("hooks",),
        key=True,
        help=f"move `hooks` into `{SETTINGS_FILE}`",
    )


def check_hooks_file(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a plugin's file of hooks."""
    check_hooks(values.get("hooks", {}), ("hooks",), inspection, _plugin_of(inspection))


def _plugin_of(inspection: FileInspection) -> Path:
    return inspection.file.path.parent.parent


def check_hooks(hooks: Mapping[str, Any], path: KeyPath, inspection: FileInspection, folder: Path | None) -> None:
    """Check the hooks at `path`.

    Args:
        folder: what scripts are relative to; None where they may be of one user alone.
    """
    for event, matchers in hooks.items():
        here = (*path, event)
        if _is_comment(event, matchers):
            continue
        if event not in EVENTS:
            near = nearest(event, EVENTS)
            inspection.report(
                HOOK_NEVER_RUNS,
                f"Claude Code {VERSION} has no event `{event}`, so its hooks never run",
                here,
                key=True,
                help=f"did you mean {one_of(near)}?" if near else None,
                fix=renamed(Place(file=inspection.file.display, path=here, part="key"), event, EVENTS),
            )
        elif not isinstance(matchers, list):
            _report_type(here, "a list of matchers", inspection)
        else:
            for index, matcher in enumerate(matchers):
                _check_matcher(event, matcher, (*here, index), inspection, folder)


def _is_comment(event: str, matchers: Any) -> bool:
    """Tell whether an entry beside events is a note for people: JSON has no comments."""
    return event.startswith(("_", "//")) or (event not in EVENTS and isinstance(matchers, str))


def _check_matcher(event: str, matcher: Any, path: KeyPath, inspection: FileInspection, folder: Path | None) -> None:
    if not isinstance(matcher, Mapping):
        _report_type(path, "an object", inspection)
        return
    if "hooks" not in matcher:
        advice = '{"hooks": [{"type": "command", "command": …}]}'
        inspection.report(
            MISSING_KEY, f"`{inspection.dotted(path)}` has no `hooks`", path, help=f"write it as `{advice}`"
        )
        return
    if event in TOOL_EVENTS:
        _check_names(matcher.get("matcher"), (*path, "matcher"), inspection)
    if not isinstance(matcher["hooks"], list):
        _report_type((*path, "hooks"), "a list", inspection)
        return
    for index, hook in enumerate(matcher["hooks"]):
        _check_hook(hook, (*path, "hooks", index), inspection, folder)


def _check_names(matcher: Any, path: KeyPath, inspection: FileInspection) -> None:
    """Report names in a matcher that are slips of a tool, or another client's. Others may be a plugin's."""
    match = _NAMES.fullmatch(matcher) if isinstance(matcher, str) else None
    alternatives = set(match["names"].split("|")) if match else set()
    for name in sorted(alternatives - TOOLS):
        # Such a name beside a tool, or in a plugin of several clients, is for another client.
        is_foreign = "_" in name and (not alternatives.isdisjoint(TOOLS) or _is_of_several_clients(inspection))
        near = () if is_foreign else (OTHER_NAMES[name],) if name in OTHER_NAMES else nearest(name, TOOLS)
        # Beside the tool that it is near, a name is another client's for the same tool.
        if near and alternatives.isdisjoint(near):
            inspection.report(
                HOOK_NEVER_RUNS,
                f"Claude Code has no tool `{name}`, so the hook never runs for it",
                path,
                help=f"did you mean {one_of(near)}?",
            )


def _is_of_several_clients(inspection: FileInspection) -> bool:
    return any((_plugin_of(inspection) / name).is_file() for name in _OTHER_CLIENTS)


def _check_hook(hook: Any, path: KeyPath, inspection: FileInspection, folder: Path | None) -> None:
    if not isinstance(hook, Mapping):
        _report_type(path, "an object", inspection)
        return
    kind = hook.get("type")
    if not isinstance(kind, str) or kind not in HOOK_FIELDS:
        what = f"unknown `type` of a hook, `{kind}`" if isinstance(kind, str) else "the hook has no `type`"
        rule = UNEXPECTED_VALUE if isinstance(kind, str) else MISSING_KEY
        at = (*path, "type") if isinstance(kind, str) else path
        inspection.report(rule, f"{what}: expected {one_of(HOOK_FIELDS)}", at)
        return
    for field in HOOK_FIELDS[kind]:
        if not isinstance(hook.get(field), str):
            inspection.report(MISSING_KEY, f"a hook of type `{kind}` has no `{field}`", path, help=f"add `{field}`")
            return
    if isinstance(hook.get("timeout"), str):
        _report_type((*path, "timeout"), "a number of seconds", inspection)
    unclosed = _UNCLOSED.search(hook["command"]) if kind == "command" else None
    if unclosed is not None:
        inspection.report(
            UNEXPANDED_REFERENCE,
            f"`{unclosed[0]}` has no closing brace, so the shell does not run the command",
            (*path, "command"),
            help=f"write `{unclosed[0]}}}`",
        )
        return
    if kind == "command" and folder is not None and not hook.get("args"):
        script = script_of(hook["command"], folder, of_plugin=inspection.file.kind is not CLAUDE_SETTINGS)
        # A file of hooks without a manifest may be copied elsewhere when it is installed.
        if script is not None and all(is_missing(one, script) for one in _roots(folder)):
            _report_script(script, (*path, "command"), folder, inspection)


def _roots(folder: Path) -> Iterator[Path]:
    """Yield a project's or a plugin's folder, and the folders around it in which another program may install it."""
    yield folder
    if not any((folder / own).exists() for own in (PLUGIN_FILE, ".claude")):
        yield from folder.parents[:4]


def _report_type(path: KeyPath, expected: str, inspection: FileInspection) -> None:
    inspection.report(WRONG_TYPE, f"expected {expected} for `{inspection.dotted(path)}`", path)
