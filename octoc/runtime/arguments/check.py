"""Check a call's arguments against the tool's schema before anything is sent."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import attrs

from octoc.background_import import import_in_thread
from octoc.names import ToolId
from octoc.runtime.arguments.messages import Problem, problems_of
from octoc.runtime.arguments.validator import DEFAULT_DIALECT, Compiled, SchemaUnusableError, Validator

logger = logging.getLogger("octoc.runtime")

_MAX_COMPILED = 2048
MAX_TRIALS = 3
"""After this many small values in a row that take too long, a schema is not used any more."""
_SMALL = 1000


@attrs.define
class _ToolSchema:
    """One tool's schema.

    Args:
        compiled: None if the schema cannot be used.
        sound: it was checked against its dialect.
        reported: a problem with it was logged.
        slow: small values in a row that took too long.
    """

    schema: Any
    compiled: Compiled | None = None
    sound: bool = False
    reported: bool = False
    slow: int = 0


class ArgumentChecks:
    """The compiled schemas of one bundle's tools; only the last 2,048 used ones are kept."""

    def __init__(self) -> None:
        self._validator = Validator()
        self._tools: dict[ToolId, _ToolSchema] = {}

    async def problems(
        self, tool: ToolId, schema: Any, arguments: Mapping[str, Any], *, dialect: str | None = None
    ) -> tuple[Problem, ...]:
        """Return the problems with a call's arguments, at most a few; empty if none is found.

        A schema that is invalid, refers to the network or takes too long finds no problems, and is logged once. If it
        takes too long for several small values in a row, it is not used any more. `schema` is compared by identity:
        pass the shared object.
        """
        if not schema or not isinstance(schema, Mapping):
            return ()
        await import_in_thread("jsonschema")  # it takes 50 ms once
        state = self._tool_schema(tool, schema, dialect or DEFAULT_DIALECT)
        if state.compiled is None:
            return ()
        try:
            errors = self._validator.errors(state.compiled, arguments)
            if errors and not state.sound:
                # An invalid schema may refuse what its author meant to allow, so it is checked before it refuses.
                self._validator.check_schema(state.compiled)
                state.sound = True
        except SchemaUnusableError as problem:
            if problem.costly and _is_small(arguments):
                state.slow += 1
            self._report(tool, state, problem)
            return ()
        state.slow = 0
        return problems_of(errors)

    def _tool_schema(self, tool: ToolId, schema: Mapping[str, Any], dialect: str) -> _ToolSchema:
        state = self._tools.pop(tool, None)
        if state is None or state.schema is not schema:
            state = _ToolSchema(schema)
            try:
                state.compiled = self._validator.compile(schema, dialect)
            except SchemaUnusableError as problem:
                self._report(tool, state, problem)
            while len(self._tools) >= _MAX_COMPILED:
                del self._tools[next(iter(self._tools))]
        self._tools[tool] = state
        return state

    def _report(self, tool: ToolId, state: _ToolSchema, problem: SchemaUnusableError) -> None:
        if problem.final or state.slow >= MAX_TRIALS:
            state.compiled = None
        if not state.reported:
            state.reported = True
            logger.warning("arguments of `%s` are sent unchecked, as its schema cannot be used: %s", tool, problem)


def _is_small(value: Any) -> bool:
    """Return whether a value has so few parts that it cannot be the reason for a slow validation."""
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
