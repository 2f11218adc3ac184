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
_MOST_TOLD = 3


async def refusal(
    loaded: LoadedBundle,
    index: int,
    arguments: Mapping[str, Any],
    *,
    shown: str = "",
    policy: str | None = None,
    profile: str | None = None,
) -> ToolFailure | None:
    """Return the failure of a call whose arguments are not what the tool's schema says, or None to send them.

    Args:
        index: the tool's number in the bundle's catalog.
        shown: what the model calls it; without a model its identity.
        policy: `error`, `warn` (log it, and send) or `off`, instead of what workspace and tool have.
        profile: whose words the failure has, the workspace's without one.

    Raises: BundleRefused when the bundle was altered.
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
        told = "; ".join(map(str, problems[:_MOST_TOLD]))
        logger.warning("arguments of `%s` are sent though they do not fit its schema: %s", tool.id, told)
        return None
    return misfit(str(tool.id), shown or str(tool.id), problems, profile or settings.results.profile)


def misfit(tool: str, shown: str, problems: Sequence[Problem], profile: str) -> ToolFailure:
    """Return the failure that tells a model what is wrong with its arguments. `shown` is what it calls the tool."""
    told = [str(problem) for problem in problems[:_MOST_TOLD]]
    more = [f"{len(problems) - _MOST_TOLD} more"] if len(problems) > _MOST_TOLD else []
    lines = "\n".join(f"- {line.replace('`', chr(39))}" for line in (*told, *more))
    return failure(
        "bad_request",
        f"the arguments of `{tool}` do not fit its schema: {'; '.join((*told, *more))}",
        text=f"[Error] The arguments of '{shown}' do not fit its schema, and it was not called:\n{lines}",
        profile=profile,
        field=problems[0].path or None,
    )
