"""The caller of a call. `octoc.results` has it for plugins; here it comes without the rest of a call."""

from __future__ import annotations

from contextvars import ContextVar

import attrs


@attrs.frozen(kw_only=True)
class Caller:
    """The caller of a call; passed to transports, tools and observers, and never interpreted by octoc.

    `session` is the conversation's name, `workdir` the folder that it is about. `account` names whose shares of octoc's
    limits the call uses where there is no tenant.
    """

    agent: str = ""
    session: str | None = None
    workdir: str | None = None
    tenant: str | None = None
    user: str | None = None
    correlation_id: str | None = None
    account: str | None = None


CALLER: ContextVar[Caller] = ContextVar("octoc_caller", default=Caller())  # noqa: B039  # it is frozen
"""The caller of the call that an in-process tool works on."""


def current_caller() -> Caller:
    """Return the caller, for the handler of a `PythonTool`; an empty one outside of calls."""
    return CALLER.get()
