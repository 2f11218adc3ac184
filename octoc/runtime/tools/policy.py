"""The settings of one tool in octoc.toml: the first policy of its server whose glob matches the tool's own name."""

from __future__ import annotations

from octoc.bundle.model import ServerEntry, Settings, ToolPolicy
from octoc.names import glob_matches


def policy_of(entry: ServerEntry, tool: str) -> ToolPolicy | None:
    """Return the policy for a tool of a server, or None."""
    return next((policy for policy in entry.tools if glob_matches(policy.glob, tool)), None)


def limit_of(entry: ServerEntry, tool: str) -> float:
    """Return the seconds that a call of the tool may take, all waiting included."""
    policy = policy_of(entry, tool)
    return entry.timeout_s if policy is None or policy.timeout_s is None else policy.timeout_s


def retry_mode(entry: ServerEntry, tool: str) -> str:
    """Return `safe`, `always` or `never`: the tool's own policy, else its server's."""
    policy = policy_of(entry, tool)
    return entry.retry if policy is None or policy.retry is None else policy.retry


def arguments_mode(settings: Settings, entry: ServerEntry, tool: str) -> str:
    """Return the reaction to arguments that do not fit, `error`, `warn` or `off`: the tool's, else the workspace's."""
    policy = policy_of(entry, tool)
    return settings.arguments if policy is None or policy.arguments is None else policy.arguments
