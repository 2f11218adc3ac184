"""`octoc.toml` as settings: read and checked before anything else, since it says what there is to discover."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs

from octoc.compiler.cache.store import Cache, code_stamp
from octoc.compiler.check.units import SCOPE_TABLES
from octoc.compiler.model.documents import FileKind, FoundFile, kept
from octoc.compiler.model.settings import (
    OCTOPUS_TOKENS,
    AgentBudget,
    BudgetSettings,
    LimitSettings,
    LintOverride,
    LintSettings,
    ResultsSettings,
    RoutingSettings,
    RuntimeSettings,
    ScopeSettings,
    SearchSettings,
    SecretsSettings,
    ServerSettings,
    SkillsSettings,
    TapRef,
    TestSettings,
    ToolSettings,
    WorkspaceSettings,
)
from octoc.compiler.read.text import Limit, load_text
from octoc.compiler.read.toml import read_toml
from octoc.compiler.structure.scopes import numbers, scope_tables
from octoc.compiler.workspace.paths import WORKSPACE_FILE
from octoc.diagnostics.model import DiagnosticSink, Place

STRICTEST_MODE = "production"
STRICTEST_PROFILE = "deny"
FALLBACK_NAME = "workspace"

_FRACTIONS = frozenset({
    *("threshold", "margin", "precision"),
    *("timeout", "idle_close", "deps_timeout", "breaker_seconds", "store_seconds", "validate_timeout"),
    "activate_timeout",
})  # fmt: skip
Section = TypeVar(
    "Section",
    RoutingSettings,
    SearchSettings,
    ResultsSettings,
    RuntimeSettings,
    SkillsSettings,
    LimitSettings,
    ServerSettings,
    ToolSettings,
)


def load_settings(
    root: Path, sink: DiagnosticSink, *, cache: Cache | None = None, overlay: Mapping[str, bytes] | None = None
) -> WorkspaceSettings | None:
    """Return what `octoc.toml` in `root` says, and report what is unsound in it.

    A folder without the file has the defaults and its own name. None when the file cannot be read.

    Args:
        cache: remembers files that were found sound, so that they need not be checked again.
        overlay: display path -> bytes that are read instead of what is on disk.
    """
    path = root / WORKSPACE_FILE
    place = Place(file=WORKSPACE_FILE)
    # A link that leads nowhere is a file that cannot be read, not one that is absent.
    if not path.exists() and not path.is_symlink():
        return WorkspaceSettings(name=name_of_folder(root), place=place)
    # The file that could raise the limit is itself held to the default.
    limit = Limit(size=LimitSettings().max_file_bytes, key="max_file_bytes")
    source = load_text(path, WORKSPACE_FILE, limit, sink, instead=(overlay or {}).get(WORKSPACE_FILE))
    if source is None or source.text is None:
        return None
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
    workspace = sound.get("workspace", {})
    written = values.get("workspace")
    misspelt = isinstance(written, Mapping) and "mode" in written and "mode" not in workspace
    defaults = WorkspaceSettings(name=workspace.get("name", folder_name), place=place)
    mode = STRICTEST_MODE if misspelt else workspace.get("mode", defaults.mode)
    return attrs.evolve(
        defaults,
        mode=mode,
        taps=tuple(
            TapRef(name=tap["name"], path=tap["path"], place=place.child("taps", index))
            for index, tap in kept(sound.get("taps", ()))
        ),
        providers=dict(sound.get("providers", {})),
        agent_paths=_strings(sound, "agents", "paths", defaults.agent_paths),
        mcp_files=_strings(sound, "mcp", "files", defaults.mcp_files),
        plugins=_strings(sound, "plugins", "use", defaults.plugins),
        alias_style=sound.get("aliases", {}).get("style", defaults.alias_style),
        routing=_routing(sound.get("routing", {})),
        test=TestSettings(**{key: float(value) for key, value in sound.get("test", {}).items()}),
        search=_section(SearchSettings(), sound.get("search", {})),
        results=_results(sound.get("results", {})),
        runtime=_runtime(mode, values.get("runtime"), sound.get("runtime", {})),
        skills=_skills(sound),
        servers={name: _server(server) for name, server in sound.get("servers", {}).items()},
        limits=_section(LimitSettings(), sound.get("limits", {})),
        lint=_lint(sound, place),
        budget=_budget(sound.get("budget", {})),
        scopes=_scopes(values.get("scopes"), sound),
        secrets=SecretsSettings(allow=_strings(sound, "secrets", "allow", ())),
        quota=numbers(sound.get("quota", {})),
        scope_tables=scope_tables(sound, place),
        # A mistake in a limit, or in what is withheld, must not lift it.
        scopes_unsound=any(values.get(key) != sound.get(key) for key in (*SCOPE_TABLES, "quota")),
    )


def _is_known_sound(values: Mapping[str, Any], place: Place, digest: str, cache: Cache) -> bool:
    """Tell whether nothing is to be said about the file, from the cache where it knows: jsonschema loads slowly."""
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

    file = FoundFile(path=Path(place.file), display=place.file, kind=FileKind.WORKSPACE)
    return check_values(file, values, sink)


def name_of_folder(root: Path) -> str:
    """Return a name for the workspace in `root`, made of its folder's name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", root.absolute().name).strip("-_.") or FALLBACK_NAME


def _routing(values: Mapping[str, Any]) -> RoutingSettings:
    defaults = RoutingSettings()
    lists: dict[str, Any] = {
        key: _strings({"routing": values}, "routing", key, getattr(defaults, key))
        for key in ("fixtures", "background", "pinned", "allow_high_trust")
    }
    own = {key: value for key, value in values.items() if key not in {*lists, "encoder_settings"}}
    told = {key: _text(value) for key, value in values.get("encoder_settings", {}).items()}
    return attrs.evolve(_section(defaults, own), encoder_settings=told, **lists)


def _text(value: Any) -> str:
    # Plugins are told text; JSON Schema takes 4.0 for a whole number.
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(int(value))


def _results(values: Mapping[str, Any]) -> ResultsSettings:
    results = _section(ResultsSettings(), values)
    if results.profile == "octopus" and "max_tokens" not in values:
        return attrs.evolve(results, max_tokens=OCTOPUS_TOKENS)
    return results


def _runtime(mode: str, written: Any, sound: Mapping[str, Any]) -> RuntimeSettings:
    # Whoever misspells how dependencies are treated gets what does least.
    misspelt = isinstance(written, Mapping) and "deps" in written and "deps" not in sound
    deps = "never" if misspelt or mode == STRICTEST_MODE else RuntimeSettings().deps
    return _section(RuntimeSettings(deps=deps), sound)


def _scopes(written: Any, sound: Mapping[str, Any]) -> ScopeSettings:
    # Whoever misspells the profile, or that there is one, gets the one that gives least.
    misspelt = written is not None and (
        not isinstance(written, Mapping) or ("profile" in written and "profile" not in sound.get("scopes", {}))
    )
    profile = STRICTEST_PROFILE if misspelt else sound.get("scopes", {}).get("profile")
    return ScopeSettings(profile=profile, paths=_strings(sound, "scopes", "paths", ScopeSettings().paths))


def _skills(sound: Mapping[str, Any]) -> SkillsSettings:
    own = {key: value for key, value in sound.get("skills", {}).items() if key != "paths"}
    return attrs.evolve(
        _section(SkillsSettings(), own), paths=_strings(sound, "skills", "paths", SkillsSettings().paths)
    )


def _server(values: Mapping[str, Any]) -> ServerSettings:
    own = {key: value for key, value in values.items() if key != "tools"}
    tools = {glob: _section(ToolSettings(), tool) for glob, tool in values.get("tools", {}).items()}
    return attrs.evolve(_section(ServerSettings(), own), tools=tools)


def _lint(sound: Mapping[str, Any], place: Place) -> LintSettings:
    lint = sound.get("lint", {})
    return LintSettings(
        rules=dict(lint.get("rules", {})),
        overrides=tuple(
            LintOverride(
                path=override["path"], rules=dict(override["rules"]), place=place.child("lint", "overrides", index)
            )
            for index, override in kept(lint.get("overrides", ()))
            # What has no sound path, or no rules, was reported, and changes nothing.
            if "path" in override and "rules" in override
        ),
        providers=_strings(sound, "lint", "providers", LintSettings().providers),
        max_tools=int(lint.get("max_tools", LintSettings().max_tools)),
        max_tokens=int(lint.get("max_tokens", LintSettings().max_tokens)),
    )


def _budget(values: Mapping[str, Any]) -> BudgetSettings:
    own = {key: int(value) for key, value in values.items() if key != "agents"}
    agents = {
        glob: AgentBudget(**{key: int(value) for key, value in budget.items()})
        for glob, budget in values.get("agents", {}).items()
    }
    return BudgetSettings(**own, agents=agents)


def _strings(sound: Mapping[str, Any], section: str, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
    values = sound.get(section, {})
    return tuple(value for _, value in kept(values[key])) if key in values else default


def _section(defaults: Section, values: Mapping[str, Any]) -> Section:
    return attrs.evolve(defaults, **{key: _plain(key, value) for key, value in values.items()})


def _plain(key: str, value: Any) -> Any:
    # JSON Schema takes 4.0 for a whole number and 1 for a number; settings are digested, so each has one form.
    if isinstance(value, bool | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(one for _, one in kept(value))
    return float(value) if key in _FRACTIONS else int(value)
