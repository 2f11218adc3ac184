"""What a session answers: the decision on a message, a found tool, and the exception for a host's own mistake."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import attrs

from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import some_names

_HALF = re.compile("[\ud800-\udfff]")


def whole_characters(text: str) -> str:
    """Return a text with U+FFFD for each half of a character, as who cuts by UTF-16 units leaves it.

    JSON can escape one, and a string hold it, but no UTF-8 can: a host could not send it on.
    """
    return text if text.isascii() else _HALF.sub("\ufffd", text)


AUTO_OFF = "auto-off"
"""The agent's area or its own settings let a message activate nothing: the model does, or nobody."""


@attrs.frozen(kw_only=True)
class UsedSkill:
    """A skill that a message has brought into use.

    Args:
        why: the line of its rules that the message met.
        text: what the host puts into the conversation, in or behind the user's message.
        notes: what became of the capabilities that it asks for, a line each.
    """

    name: str
    why: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Routing:
    """What a message was decided to be about.

    Args:
        capability: what the message activates, or None: abstained.
        also: what else it activates, as far as `max_per_message` allows.
        winner: whom it is for, also where that one is active already or cannot be activated, as the reason says.
        scores: who took part -> score in the gate's own unit, the highest first.
        background: the probability that it is for no capability; 0.0 of Octomind's gate.
        threshold: the score that the best one has to reach; `margin` is its needed distance to the second.
        reason: why, in one line.
        intent: the message as it was scored, after cleaning.
        method: `vectors`, or `words` where there is no encoder.
        follows: whether it goes on with an earlier message of the user, which decided it or had a part in that.
        skills: the skills that it has brought into use; only `on_user_message` does that.
    """

    capability: str | None
    also: tuple[str, ...] = ()
    winner: str | None = None
    background: float = 0.0
    method: str = "vectors"
    follows: bool = False
    scores: Mapping[str, float] = attrs.field(factory=dict)
    threshold: float = 0.0
    margin: float = 0.0
    reason: str = ""
    intent: str = ""
    skills: tuple[UsedSkill, ...] = ()


@attrs.frozen(kw_only=True)
class SearchHit:
    """A found tool: `tool` is `server/tool`, `alias` what the model calls it, `direct` that it is called by name."""

    tool: str
    score: float
    alias: str
    direct: bool = False


class UnknownNameError(LookupError):
    """The host asked for an agent or a server that the bundle does not have."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = did_you_mean(name, names) or f"known are {some_names(names)}"
        super().__init__(f"there is no {kind} `{name}` in this bundle: {near}")
