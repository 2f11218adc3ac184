"""Hooks in files of other clients: events that a client lacks, entries that run nothing, and scripts not there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.inputs.claude.paths import elsewhere, is_left_out, is_missing_above, is_users_own, script_of
from octoc.compiler.inputs.settings.clients import SettingsDialect
from octoc.compiler.inputs.settings.hook_form import HookForm
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import MISSING_KEY
from octoc.diagnostics.rules.claude import HOOK_NEVER_RUNS, NAMED_FILE_MISSING
from octoc.diagnostics.suggest import near_names
from octoc.lists import one_of

_OF_ENTRIES = frozenset({"hooks", "command", "bash", "powershell", "exec", "prompt", "url", "type"})
"""Keys of which each entry or group has one."""
_REPOSITORY = "$(git rev-parse --show-toplevel)/"
"""What begins a path in the repository, as Codex documents it."""


def check_hooks(values: Mapping[str, Any], dialect: SettingsDialect, inspection: FileInspection) -> None:
    """Check the hooks of a client other than Claude Code."""
    form, hooks = dialect.hooks, values.get("hooks")
    if form is None or not isinstance(hooks, Mapping):
        return
    # Clients that share a path with another one write the version of the form in the file.
    if form.needs_own_event and form.events.isdisjoint(hooks) and "version" not in values:
        return
    for event, listed in hooks.items():
        path: KeyPath = ("hooks", event)
        if event in form.events:
            for where, entry in _entries(listed, path, form, inspection):
                _check_entry(entry, where, form, dialect, inspection)
        elif _has_hooks(listed):
            near = _nearest(event, form)
            inspection.report(
                HOOK_NEVER_RUNS,
                f"{dialect.client} has no event `{event}`, so its hooks never run",
                path,
                key=True,
                help=f"did you mean `{near}`?" if near else None,
                severity=Severity.WARNING if near else Severity.INFO,
            )


def _nearest(event: str, form: HookForm) -> str | None:
    """Return the event that `event` is likely meant to be, one that begins in the same case where there is one."""
    alike = {one for one in form.events if one[0].islower() == event[:1].islower()}
    near = near_names(event, alike, 1) or near_names(event, form.events, 1)
    return form.other_events.get(event) or next(iter(near), None)


def _has_hooks(listed: Any) -> bool:
    """Tell whether a value is a list of hooks; clients also keep settings beside the events."""
    return isinstance(listed, list) and any(
        isinstance(one, Mapping) and not _OF_ENTRIES.isdisjoint(one) for one in listed
    )


def _entries(
    listed: Any, path: KeyPath, form: HookForm, inspection: FileInspection
) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield the entries of an event and their paths; report groups without any."""
    for index, one in enumerate(listed) if isinstance(listed, list) else ():
        here = (*path, index)
        if not isinstance(one, Mapping):
            continue
        inner = one.get("hooks")
        if isinstance(inner, list) and (form.takes_groups or not form.is_flat):
            yield from (((*here, "hooks", at), entry) for at, entry in enumerate(inner) if isinstance(entry, Mapping))
        elif form.is_flat:
            yield here, one
        elif inner is None and "command" in one:
            inspection.report(
                MISSING_KEY,
                f"`{inspection.dotted(here)}` has no `hooks`, so its command never runs",
                (*here, "command"),
                key=True,
                help='write it as `{"hooks": [{"type": "command", "command": …}]}`',
            )


def _check_entry(
    entry: Mapping[str, Any], path: KeyPath, form: HookForm, dialect: SettingsDialect, inspection: FileInspection
) -> None:
    kind = entry.get("type", form.usual)
    keys = form.runs.get(kind, ()) if isinstance(kind, str) else ()
    if keys and entry.keys().isdisjoint(keys):
        inspection.report(
            MISSING_KEY,
            f"a hook of type `{kind}` has no {one_of(keys)}",
            (*path, "type") if "type" in entry else path,
            help=f"add `{keys[0]}`",
        )
    for key in keys:
        if isinstance(entry.get(key), str) and not entry.get("args"):
            _check_script(entry, (*path, key), form, dialect, inspection)


def _check_script(
    entry: Mapping[str, Any], path: KeyPath, form: HookForm, dialect: SettingsDialect, inspection: FileInspection
) -> None:
    """Report a script of the project that is not there; settings of one user may run in any project."""
    file, top = inspection.file.path, inspection.file.root
    project = Path(dialect.project_of(file) or file.parent)
    inside = entry.get(form.working_folder, ".")
    if is_users_own(file.parent) or not isinstance(inside, str) or Path(inside).is_absolute() or "$" in inside:
        return
    folder = Path(os.path.normpath(project / inside))
    command = entry[str(path[-1])]
    if _REPOSITORY in command and _is_repository(project, top):
        command, folder = command.replace(_REPOSITORY, "$CLAUDE_PROJECT_DIR/"), project
    script = script_of(command, folder, of_plugin=False, own=file.relative_to(project).parts[0])
    # A client may start in a folder above.
    if script is None or not is_missing_above(folder, script, top) or is_left_out(folder / script, top):
        return
    inspection.report(
        NAMED_FILE_MISSING,
        f"the hook runs `{script}`, which is not there",
        path,
        help=elsewhere(folder, script) or "add the file, or delete the hook",
    )


def _is_repository(project: Path, top: Path) -> bool:
    """Tell whether a project is the root of its repository, of which the folder `top` may be a copy without `.git`."""
    roots = [one for one in (project, *project.parents) if os.path.exists(one / ".git")]  # noqa: PTH110  # a name may be too long
    return roots[0] == project if roots else project == top
