"""The caller of a call. `octoc.results` has it for plugins; here it comes without the rest of a call."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

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


class SkillText(Protocol):
    """What a skill's use gave: `block` is the skill's text, empty if `ok` is false or it was in use before."""

    @property
    def ok(self) -> bool: ...

    @property
    def text(self) -> str: ...

    @property
    def block(self) -> str: ...


class CallerSkills(Protocol):
    """The skills of the session that made a call: those that its agent may use."""

    @property
    def names(self) -> tuple[str, ...]: ...

    async def use(self, name: str) -> SkillText:
        """Use a skill as the tool `skill` does, with the capabilities that it needs."""
        ...


SKILLS: ContextVar[CallerSkills | None] = ContextVar("octoc_skills", default=None)


def current_skills() -> CallerSkills | None:
    """Return the skills of the caller, for the handler of a `PythonTool`; None outside of a session's calls."""
    return SKILLS.get()
