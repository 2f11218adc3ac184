"""Whether a call's arguments are what the tool's schema says, before anything is sent."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

import attrs

from octoc.names import ToolId
from octoc.runtime.arguments.messages import Problem, problems_of
from octoc.runtime.arguments.validator import DEFAULT_DIALECT, Compiled, SchemaUnusableError, Validator

logger = logging.getLogger("octoc.runtime")

_MAX_COMPILED = 2048
MAX_TRIALS = 3
"""How often in a row judging a small value may take too long before a schema is given up."""
_SMALL = 1000


@attrs.define
class _Tool:
    """What is known of one tool's schema. `compiled` None: nothing is checked by it."""

    schema: Any
    compiled: Compiled | None
    sound: bool = False
    doubted: bool = False
    trials: int = 0


class ArgumentChecks:
    """The schemas of one bundle's tools, compiled; the last 2,048 that were used."""

    def __init__(self) -> None:
        self._validator = Validator()
        self._tools: dict[ToolId, _Tool] = {}

    async def problems(
        self, tool: ToolId, schema: Any, arguments: Mapping[str, Any], *, dialect: str | None = None
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
        known = self._known(tool, schema, dialect or DEFAULT_DIALECT)
        if known.compiled is None:
            return ()
        try:
            errors = self._validator.errors(known.compiled, arguments)
            if errors and not known.sound:
                # A schema that is none can refuse what its author meant to allow, so it is looked at before it refuses.
                self._validator.check_schema(known.compiled)
                known.sound = True
        except SchemaUnusableError as doubt:
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
                known.compiled = self._validator.compile(schema, dialect)
            except SchemaUnusableError as doubt:
                self._doubt(tool, known, doubt)
            while len(self._tools) >= _MAX_COMPILED:
                del self._tools[next(iter(self._tools))]
        self._tools[tool] = known
        return known

    def _doubt(self, tool: ToolId, known: _Tool, doubt: SchemaUnusableError) -> None:
        if doubt.final or known.trials >= MAX_TRIALS:
            known.compiled = None
        if not known.doubted:
            known.doubted = True
            logger.warning("arguments of `%s` are sent as they are, as its schema is of no use: %s", tool, doubt)


def _is_small(value: Any) -> bool:
    """Return whether a value has so few parts that it is not what makes judging it take long."""
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
