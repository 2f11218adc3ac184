"""`octoc.toml` as settings: read and checked before anything else, since it says what there is to discover."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.choices import ScopeProfile
from octoc.compiler.cache.store import Cache, code_stamp
from octoc.compiler.inputs.project import own_server_file
from octoc.compiler.inputs.scopes import SCOPE_TABLES
from octoc.compiler.inputs.workspace import WORKSPACE
from octoc.compiler.model.documents import FoundFile
from octoc.compiler.model.serve import ServeSource
from octoc.compiler.model.settings import (
    OCTOPUS_TOKENS,
    RENAMED_KEYS,
    LimitSettings,
    ResultsSettings,
    RuntimeSettings,
    ScopeSettings,
    WorkspaceSettings,
)
from octoc.compiler.read.known_tokens import report_known_tokens
from octoc.compiler.read.text import Limit, load_text
from octoc.compiler.read.toml import read_toml
from octoc.compiler.structure.converter import structured
from octoc.compiler.workspace.paths import WORKSPACE_FILE
from octoc.diagnostics.model import DiagnosticSink, Place

STRICTEST_MODE = "production"
STRICTEST_PROFILE: ScopeProfile = "deny"
FALLBACK_NAME = "workspace"


def load_settings(
    root: Path, sink: DiagnosticSink, *, cache: Cache | None = None, overlay: Mapping[str, bytes] | None = None
) -> WorkspaceSettings | None:
    """Return what `octoc.toml` in `root` says, and report what is unsound in it.

    A folder without the file has the defaults, its own name, and the servers of its client's file. None when the file
    cannot be read.

    Args:
        cache: remembers files that were found sound, so that they need not be checked again.
        overlay: display path -> bytes that are read instead of what is on disk.
    """
    path = root / WORKSPACE_FILE
    place = Place(file=WORKSPACE_FILE)
    # A link that leads nowhere is a file that cannot be read, not one that is absent.
    if not path.exists() and not path.is_symlink():
        defaults = WorkspaceSettings(name=name_of_folder(root), place=place)
        own = own_server_file(root)
        return defaults if own is None else attrs.evolve(defaults, mcp_files=(own,))
    # The file that could raise the limit is itself held to the default.
    limit = Limit(size=LimitSettings().max_file_bytes, key="max_file_bytes")
    source = load_text(path, WORKSPACE_FILE, limit, sink, instead=(overlay or {}).get(WORKSPACE_FILE))
    if source is None or source.text is None:
        return None
    report_known_tokens(WORKSPACE_FILE, source.text, sink)
    values = read_toml(source.text, place, sink)
    if values is None:
        return None
    sound = _is_known_sound(values, place, source.digest, cache or Cache(None))
    return settings_from(values, place, name_of_folder(root), sink, is_sound=sound)


def settings_from(
    values: Mapping[str, Any], place: Place, folder_name: str, sink: DiagnosticSink, *, is_sound: bool = False
) -> WorkspaceSettings:
    """Return the settings of an `octoc.toml` whose values are `values`, and report what is unsound in them.

    A default stands in for what is unsound, `folder_name` for a name; a `mode` that says nothing known counts as
    production, so that a misspelt word never makes a build less strict. With `is_sound` nothing is checked.
    """
    sound = values if is_sound else _checked(values, place, sink) or {}
    workspace = {"name": folder_name, **sound.get("workspace", {})}
    if _is_lost("workspace", "mode", values, sound):
        workspace["mode"] = STRICTEST_MODE
    sound, old_keys = _with_new_names(sound)
    settings = structured(WorkspaceSettings, {**sound, "workspace": workspace}, place)
    return attrs.evolve(
        settings,
        results=_results(settings.results, sound),
        runtime=_runtime(settings, values, sound),
        old_keys=old_keys,
        scopes=_scopes(settings.scopes, values, sound),
        serve=_serve(settings.serve, values, sound),
        # A mistake in a limit, or in what is withheld, must not lift it.
        scopes_unsound=any(values.get(key) != sound.get(key) for key in (*SCOPE_TABLES, "quota")),
    )


def _with_new_names(sound: Mapping[str, Any]) -> tuple[Mapping[str, Any], dict[str, str]]:
    """Return the values under the new names of keys, and the old names that `WorkspaceSettings.old_keys` takes."""
    old_keys = {}
    for (section, old), new in RENAMED_KEYS.items():
        table = sound.get(section, {})
        if old in table and new not in table:
            sound = {**sound, section: {**table, new: table[old]}}
            old_keys[f"{section}.{new}"] = old
    return sound, old_keys


def _is_known_sound(values: Mapping[str, Any], place: Place, digest: str, cache: Cache) -> bool:
    """Tell whether the file has no findings, from the cache if it knows: jsonschema loads slowly."""
    key = f"{digest} {code_stamp()}"
    if cache.get_json("settings", key) is True:
        return True
    probe = DiagnosticSink()
    is_sound = _checked(values, place, probe) is values and not probe.diagnostics
    if is_sound:
        cache.put_json("settings", key, value=True)
    return is_sound


def _checked(values: Mapping[str, Any], place: Place, sink: DiagnosticSink) -> Mapping[str, Any] | None:
    from octoc.compiler.check.stage import check_values  # what is known to be sound does not pay for it

    file = FoundFile(path=Path(place.file), display=place.file, kind=WORKSPACE)
    return check_values(file, values, sink)


def name_of_folder(root: Path) -> str:
    """Return a name for the workspace in `root`, made of its folder's name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", root.absolute().name).strip("-_.") or FALLBACK_NAME


def _is_lost(section: str, key: str, values: Mapping[str, Any], sound: Mapping[str, Any]) -> bool:
    """Tell whether check has cut a key that is written."""
    written = values.get(section)
    return isinstance(written, Mapping) and key in written and key not in sound.get(section, {})


def _results(results: ResultsSettings, sound: Mapping[str, Any]) -> ResultsSettings:
    if results.profile == "octopus" and "max_tokens" not in sound["results"]:
        return attrs.evolve(results, max_tokens=OCTOPUS_TOKENS)
    return results


def _runtime(settings: WorkspaceSettings, values: Mapping[str, Any], sound: Mapping[str, Any]) -> RuntimeSettings:
    # A misspelled `deps` falls back to `never`, which does least.
    is_unset = settings.mode == STRICTEST_MODE and "deps" not in sound.get("runtime", {})
    if is_unset or _is_lost("runtime", "deps", values, sound):
        return attrs.evolve(settings.runtime, deps="never")
    return settings.runtime


def _scopes(scopes: ScopeSettings, values: Mapping[str, Any], sound: Mapping[str, Any]) -> ScopeSettings:
    # A misspelled profile, or a `scopes` that is not a table, falls back to `deny`, the stricter one.
    is_table = isinstance(values.get("scopes", {}), Mapping)
    if not is_table or _is_lost("scopes", "profile", values, sound):
        return attrs.evolve(scopes, profile=STRICTEST_PROFILE)
    return scopes


def _serve(serve: ServeSource, values: Mapping[str, Any], sound: Mapping[str, Any]) -> ServeSource:
    # A provider is used only as it is written: without a key that was cut, more tokens could match it.
    written = values.get("serve", {})
    if not isinstance(written, Mapping):
        return ServeSource(closed=True)
    if "oidc" not in written:
        return serve
    providers = written["oidc"] if isinstance(written["oidc"], Mapping) else {}
    left = sound.get("serve", {}).get("oidc", {})
    whole = {name: one for name, one in serve.oidc.items() if providers.get(name) == left.get(name)}
    return attrs.evolve(serve, oidc=whole, closed=True)
