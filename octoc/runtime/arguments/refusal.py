"""Refusing a call whose arguments do not fit the tool's schema, in words for the model."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from octoc.runtime.arguments.messages import Problem
from octoc.runtime.results.failures import failure
from octoc.runtime.tools.policy import arguments_mode

if TYPE_CHECKING:
    from octoc.results import ToolFailure
    from octoc.runtime.loaded_bundle import LoadedBundle

logger = logging.getLogger("octoc.runtime")

OFF, WARN = "off", "warn"
_MAX_PROBLEMS = 3


async def refusal(
    loaded: LoadedBundle,
    index: int,
    arguments: Mapping[str, Any],
    *,
    shown: str = "",
    policy: str | None = None,
    profile: str | None = None,
) -> ToolFailure | None:
    """Return the failure of a call whose arguments do not fit the tool's schema, or None to send them.

    Args:
        index: the tool's number in the bundle's catalog.
        shown: the name by which the model calls it; by default its identity.
        policy: `error`, `warn` (log and send) or `off`, instead of the setting of workspace and tool.
        profile: the profile of the failure's words; by default the workspace's.

    Raises: BundleFileError when the bundle was altered.
    """
    tool, settings = loaded.catalog[index], loaded.bundle.settings
    server = loaded.servers[tool.id.server]
    policy = policy or arguments_mode(settings, server, tool.id.tool)
    if policy == OFF:
        return None
    schema = loaded.catalog.schema(index)
    problems = await loaded.arguments.problems(
        tool.id, schema, arguments, dialect=loaded.kind_of(server.transport).dialect
    )
    if not problems:
        return None
    if policy == WARN:
        lines = "; ".join(map(str, problems[:_MAX_PROBLEMS]))
        logger.warning("arguments of `%s` are sent though they do not fit its schema: %s", tool.id, lines)
        return None
    return misfit(str(tool.id), shown or str(tool.id), problems, profile or settings.results.profile)


def misfit(tool: str, shown: str, problems: Sequence[Problem], profile: str) -> ToolFailure:
    """Return the failure that lists the problems with a model's arguments. `shown` is the model's name for the tool."""
    lines = [str(problem) for problem in problems[:_MAX_PROBLEMS]]
    if len(problems) > _MAX_PROBLEMS:
        lines.append(f"{len(problems) - _MAX_PROBLEMS} more")
    items = "\n".join(f"- {line.replace('`', chr(39))}" for line in lines)
    return failure(
        "bad_request",
        f"the arguments of `{tool}` do not fit its schema: {'; '.join(lines)}",
        text=f"[Error] The arguments of '{shown}' do not fit its schema, and it was not called:\n{items}",
        profile=profile,
        field=problems[0].path or None,
    )
