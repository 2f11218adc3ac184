"""What a session answers: the decision on a message, a found tool, and the exception for a host's own mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from octoc.diagnostics.suggest import did_you_mean


@attrs.frozen(kw_only=True)
class Routing:
    """What a message was decided to be about.

    Args:
        capability: what the message activates, or None: abstained.
        scores: candidate -> score in the gate's own unit, the highest first.
        threshold: the score that the best one has to reach; `margin` is its needed distance to the second.
        reason: why, in one line.
        intent: the message as it was scored, after cleaning.
    """

    capability: str | None
    scores: Mapping[str, float] = attrs.field(factory=dict)
    threshold: float = 0.0
    margin: float = 0.0
    reason: str = ""
    intent: str = ""


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
        near = did_you_mean(name, names) or f"known are {', '.join(f'`{one}`' for one in names[:10]) or 'none'}"
        super().__init__(f"there is no {kind} `{name}` in this bundle: {near}")
