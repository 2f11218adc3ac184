"""What a model is given in a session, part by part: where each is from, what it costs, what would be pruned.

Source: Octopus, context inspector (sections, tokens, total, budget, share, pruning).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs

from octoc.runtime.catalog.formats import MCP, Form
from octoc.runtime.catalog.token_costs import COUNTED_FORMAT, tool_text
from octoc.runtime.catalog.tool_block import own_tools
from octoc.runtime.results.fit import reads_results
from octoc.runtime.skills.available import skills_in_use
from octoc.runtime.skills.text import skill_block

if TYPE_CHECKING:
    from octoc.runtime.history import Message, Shape
    from octoc.runtime.state import SessionState

SectionName = Literal[
    "system prompt", "servers prompt", "octoc's tools", "direct tools", "active tools", "skills", "history"
]
Fate = Literal["kept", "aged", "dropped"]

_ANY_HANDLE = "r-0123456789abcdef"
"""As long as a handle is: inspecting keeps nothing."""


@attrs.frozen(kw_only=True)
class Part:
    """A piece of a context.

    Args:
        name: an alias, a skill, the role of a message; the agent of a prompt.
        source: where it is from, in words.
        tokens: what it costs now; 0 of what is dropped, or counted elsewhere.
        capability, server: whose tool it is; None of what is none, or of a tool that the agent has from the start.
        fate: what becomes of a message within the budget; `before` is what it costs without.
    """

    name: str
    source: str
    tokens: int
    capability: str | None = None
    server: str | None = None
    fate: Fate = "kept"
    before: int = 0


@attrs.frozen(kw_only=True)
class Section:
    """A part of the context that stands together, in the order in which a request has it."""

    name: SectionName
    parts: tuple[Part, ...] = ()

    @property
    def tokens(self) -> int:
        """What all of it costs."""
        return sum(part.tokens for part in self.parts)


@attrs.frozen(kw_only=True)
class Inspection:
    """A session's context as it would be sent now.

    Args:
        counter: what counted the tokens; `format` is the form of the tools.
        sections: those that there are anything in, in order.
        tokens: all of it, after pruning.
        budget: what it should cost at most; None where none was given.
        dropped: messages that `fit` would leave out, `aged` those whose results `age` would shorten: numbers in the
            list that was given.
        why_over: why it is over the budget all the same; empty when it is not.
    """

    agent: str
    counter: str
    format: str
    sections: tuple[Section, ...]
    tokens: int
    budget: int | None = None
    dropped: tuple[int, ...] = ()
    aged: tuple[int, ...] = ()
    why_over: str = ""

    @property
    def share(self) -> float | None:
        """How much of the budget is used: 1.0 is all of it; None without a budget, or one of 0."""
        return self.tokens / self.budget if self.budget else None


def inspect(
    session: SessionState,
    messages: Sequence[Message] | None,
    *,
    budget_tokens: int | None,
    format: str | None,  # noqa: A002  # the field's word
) -> Inspection:
    """Say what the model is given. Changes, keeps and connects nothing.

    Args:
        messages: the conversation, without what octoc gives for its system prompt.
        budget_tokens: for all of it: with one, the history is aged and fitted into what the rest leaves, as `age` and
            `fit` would by default.
        format: the shape of the messages, as for `fit`.

    Raises: ValueError for an unknown format, BundleRefused.
    """
    form = Form(COUNTED_FORMAT) if session.form == MCP else session.form
    said, agent = _Conversation.of(messages or (), format), session.agent
    sections = [
        Section(name="system prompt", parts=_prompt(session, agent.prompt, "written by the agent's file")),
        Section(name="servers prompt", parts=_prompt(session, agent.servers_prompt, "made of the bundle's servers")),
        *_tools(session, form),
        Section(name="skills", parts=tuple(_skills(session, said))),
    ]
    fixed = sum(section.tokens for section in sections)
    history = _history(session, said, None if budget_tokens is None else budget_tokens - fixed)
    sections.append(Section(name="history", parts=history.parts))
    tokens = fixed + sum(part.tokens for part in history.parts)
    over = (
        ""
        if budget_tokens is None or tokens <= budget_tokens
        else history.why_over or (f"all but the history takes {fixed} of a budget of {budget_tokens}")
    )
    return Inspection(
        agent=session.agent.name,
        counter=session.counter.name,
        format=form.format,
        sections=tuple(section for section in sections if section.parts),
        tokens=tokens,
        budget=budget_tokens,
        dropped=tuple(number for number, part in enumerate(history.parts) if part.fate == "dropped"),
        aged=tuple(number for number, part in enumerate(history.parts) if part.fate == "aged"),
        why_over=over,
    )


@attrs.frozen
class _Conversation:
    """A conversation and its shape."""

    messages: list[Any]
    shape: Shape
    texts: str

    @classmethod
    def of(cls, messages: Sequence[Message], format: str | None) -> _Conversation:  # noqa: A002  # as above
        from octoc.runtime.history import shape_of

        shape = shape_of(messages, format)
        return cls(list(messages), shape, "\n".join(text for one in messages for text in shape.texts(one)))


@attrs.frozen
class _History:
    parts: tuple[Part, ...]
    why_over: str = ""


def _prompt(session: SessionState, number: Any, source: str) -> tuple[Part, ...]:
    text = session.loaded.opened.text(number)
    if not text:
        return ()
    return (Part(name=session.agent.name, source=source, tokens=session.counter.count(text)),)


def _tools(session: SessionState, form: Form) -> Iterator[Section]:
    surface, count = session.tools, session.counter.count
    own = (Part(name=one.name, source="octoc", tokens=count(tool_text(one.tool))) for one in own_tools(session, form))
    yield Section(name="octoc's tools", parts=tuple(own))
    base = frozenset(surface.base())
    boot = {index: name for name in surface.registry.boot for index in surface.owned(name)}
    direct: list[Part] = []
    active: list[Part] = []
    for index, wire in surface.block():
        tool = session.loaded.catalog[index]
        shown = surface.scope.shown(index, form.format, wire)
        owner = boot.get(index) if index in base else next(iter(surface.active_owners(index)), None)
        source = "the agent has it from the start" if index in base else f"capability `{owner}` is active"
        part = Part(
            name=shown.name,
            source=f"{source}: {tool.id}",
            tokens=count(tool_text(shown.tool)),
            capability=owner,
            server=tool.id.server,
        )
        (direct if index in base else active).append(part)
    yield Section(name="direct tools", parts=tuple(direct))
    yield Section(name="active tools", parts=tuple(active))


def _skills(session: SessionState, said: _Conversation) -> Iterator[Part]:
    for name in skills_in_use(session):
        block = skill_block(session, session.loaded.skills[name])
        # The host has put it into the conversation, where it is counted with its message.
        told = block in said.texts
        source = "in use, its text is in the history" if told else "in use"
        yield Part(name=name, source=source, tokens=0 if told else session.counter.count(block))


def _history(session: SessionState, said: _Conversation, budget: int | None) -> _History:
    from octoc.runtime.history import age, message_tokens, prune

    messages, shape, counter = said.messages, said.shape, session.counter
    before = [message_tokens(message, shape, counter) for message in messages]
    if budget is None or not messages:
        return _History(tuple(_message(said, number, cost, cost, "kept") for number, cost in enumerate(before)))
    keeps = reads_results(session)
    aged = age(messages, shape, lambda *_: _ANY_HANDLE if keeps else None, profile=session.profile).messages
    fitted = prune(aged, budget, counter, shape=shape)
    gone = frozenset(number for group in fitted.dropped for number in group)
    parts = []
    for number, (old, new) in enumerate(zip(messages, aged, strict=True)):
        fate: Fate = "dropped" if number in gone else "kept" if new is old else "aged"
        now = 0 if fate == "dropped" else message_tokens(new, shape, counter)
        parts.append(_message(said, number, now, before[number], fate))
    return _History(tuple(parts), fitted.why_over)


def _message(said: _Conversation, number: int, tokens: int, before: int, fate: Fate) -> Part:
    shape, message = said.shape, said.messages[number]
    answers = shape.answers(message)
    if shape.is_system(message):
        role = "system"
    elif shape.is_models(message):
        role = "model"
    else:
        role = "tool" if answers and not shape.is_users_own(message) else "user"
    calls = ", ".join(call.name for call in shape.calls(message))
    source = f"message {number}{f', calls {calls}' if calls else ''}"
    return Part(name=role, source=source, tokens=tokens, fate=fate, before=before)
