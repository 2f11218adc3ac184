"""An agent's own settings: the defaults of its area, then its overrides, key by key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from octoc.bundle.model import AgentSettings
from octoc.bundle.organisation import Quota
from octoc.compiler.model.scopes import AreaSource, Number, OverrideSource, Tuning
from octoc.compiler.model.settings import OCTOPUS_TOKENS, WorkspaceSettings
from octoc.names import glob_matches


def settings_of(
    agent: str, area: AreaSource | None, overrides: Iterable[OverrideSource], settings: WorkspaceSettings
) -> AgentSettings:
    """Return the settings of an agent that differ from the workspace's.

    For each key the longest override that matches the agent wins, then the agent's area. The agent's quota inherits
    missing keys from the workspace's.

    Args:
        area: the agent's own area; None without one.
    """
    matching = sorted((one for one in overrides if glob_matches(one.glob, agent)), key=lambda one: len(one.glob))
    layers = [*([] if area is None else [area.defaults]), *(one.tuning for one in matching)]
    results = _merged(layers, "results")
    routing = _merged(layers, "routing")
    own_quota = _merged(layers, "quota")
    profile = results.get("profile")
    if profile == "octopus" and "max_tokens" not in results and not settings.results.max_tokens:
        results["max_tokens"] = OCTOPUS_TOKENS
    return AgentSettings(
        results_profile=profile,
        max_chars=results.get("max_chars"),
        max_tokens=results.get("max_tokens"),
        keep=results.get("keep"),
        max_active=routing.get("max_active"),
        max_active_tokens=routing.get("max_active_tokens"),
        auto=routing.get("auto"),
        quota=quota_of({**settings.quota, **own_quota}) if own_quota else None,
    )


def quota_of(values: Mapping[str, Number]) -> Quota | None:
    """Return a quota as the bundle has it; None without limits."""
    named: dict[str, Any] = {("window_s" if key == "window" else key): value for key, value in values.items()}
    return Quota(**named) if named else None


def _merged(layers: Iterable[Tuning], section: str) -> dict[str, Any]:
    return {key: value for layer in layers for key, value in getattr(layer, section).items()}
