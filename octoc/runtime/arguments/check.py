"""Whether a call's arguments are what the tool's schema says, before anything is sent."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from octoc.names import ToolId
from octoc.runtime.arguments.messages import Problem, problems_of
from octoc.runtime.arguments.validator import DEFAULT_DIALECT, REST_DIALECT, Compiled, Doubt, Judge
from octoc.runtime.results.failures import failure
from octoc.runtime.tools.policy import arguments_mode

if TYPE_CHECKING:
    from octoc.results import ToolFailure
    from octoc.runtime.loaded_bundle import Generation

logger = logging.getLogger("octoc.runtime")

OFF, WARN = "off", "warn"
_MAX_COMPILED = 2048
_MOST_TOLD = 3
MAX_TRIALS = 3
"""How often in a row judging a small value may take too long before a schema is given up."""
_SMALL = 1000
_REST = "rest"


@attrs.define
class _Tool:
    """What is known of one tool's schema. `compiled` None: nothing is checked by it."""

    schema: Any
    compiled: Compiled | None
    sound: bool = False
    doubted: bool = False
    trials: int = 0


class ArgumentChecks:
    """The schemas of one generation's tools made ready, the last 2,048 that were used."""

    def __init__(self) -> None:
        self._judge = Judge()
        self._tools: dict[ToolId, _Tool] = {}

    async def problems(
        self, tool: ToolId, schema: Any, arguments: Mapping[str, Any], *, transport: str = ""
    ) -> tuple[Problem, ...]:
        """Return what is wrong with the arguments of a call, at most a few things; empty when nothing is known to be.

        What cannot be judged, as a schema that is none, that asks for the network or takes too long, is logged once and
        finds nothing. One that takes too long again and again for small values is not tried any more; a large value,
        or one long moment of the process, costs its own call alone. `schema` is compared by identity: pass the shared
        object.
        """
        if not schema or not isinstance(schema, Mapping):
            return ()
        if "jsonschema" not in sys.modules:
            import asyncio

            # It takes a twentieth of a second, in which the loop serves other calls.
            await asyncio.to_thread(_load)
        known = self._known(tool, schema, REST_DIALECT if transport == _REST else DEFAULT_DIALECT)
        if known.compiled is None:
            return ()
        try:
            errors = self._judge.errors(known.compiled, arguments)
            if errors and not known.sound:
                # A schema that is none can refuse what its author meant to allow, so it is looked at before it refuses.
                self._judge.check_schema(known.compiled)
                known.sound = True
        except Doubt as doubt:
            if doubt.costly and _is_small(arguments):
                known.trials += 1
            self._doubt(tool, known, doubt)
            return ()
        known.trials = 0
        return problems_of(errors)

    def _known(self, tool: ToolId, schema: Mapping[str, Any], dialect: str) -> _Tool:
        known = self._tools.pop(tool, None)
        if known is None or known.schema is not schema:
            known = _Tool(schema=schema, compiled=None)
            try:
                known.compiled = self._judge.compile(schema, dialect)
            except Doubt as doubt:
                self._doubt(tool, known, doubt)
            while len(self._tools) >= _MAX_COMPILED:
                del self._tools[next(iter(self._tools))]
        self._tools[tool] = known
        return known

    def _doubt(self, tool: ToolId, known: _Tool, doubt: Doubt) -> None:
        if doubt.final or known.trials >= MAX_TRIALS:
            known.compiled = None
        if not known.doubted:
            known.doubted = True
            logger.warning("arguments of `%s` are sent as they are, as its schema is of no use: %s", tool, doubt)


def _is_small(value: Any) -> bool:
    """Tell whether a value has so few parts that it is not what makes judging it take long."""
    waiting, seen = [value], 0
    while waiting and seen <= _SMALL:
        part = waiting.pop()
        seen += 1
        if isinstance(part, Mapping):
            waiting += part.values()
        elif isinstance(part, (list, tuple)):
            waiting += part
        elif isinstance(part, str):
            seen += len(part) // _SMALL
    return seen <= _SMALL


def _load() -> None:
    import jsonschema  # noqa: F401  # for its place in sys.modules


async def refusal(
    generation: Generation,
    index: int,
    arguments: Mapping[str, Any],
    *,
    shown: str = "",
    policy: str | None = None,
    profile: str | None = None,
) -> ToolFailure | None:
    """Return the failure of a call whose arguments are not what the tool's schema says, or None to send them.

    Args:
        index: the tool's number in the generation's catalog.
        shown: what the model calls it; without a model its identity.
        policy: `error`, `warn` (log it, and send) or `off`, instead of what workspace and tool have.
        profile: whose words the failure has, the workspace's without one.

    Raises: BundleRefused when the bundle was altered.
    """
    tool, settings = generation.catalog[index], generation.bundle.settings
    server = generation.servers[tool.id.server]
    policy = policy or arguments_mode(settings, server, tool.id.tool)
    if policy == OFF:
        return None
    schema = generation.catalog.schema(index)
    problems = await generation.arguments.problems(tool.id, schema, arguments, transport=server.transport)
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
