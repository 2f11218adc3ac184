"""Logs why tokens are refused, without letting a client fill the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from octoc_serve.oidc.decisions import TokenRefusal

logger = logging.getLogger(__name__)

EVERY_S = 10.0
"""Shortest time between two lines about refusals of one kind by one provider; the second has the number between."""


class RefusalLog:
    """Counts refusals by provider and kind, both of which are few. Tokens of octoc are of one kind."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: dict[tuple[str, str], float] = {}
        self._between: dict[tuple[str, str], int] = {}

    def note(self, refusal: TokenRefusal) -> None:
        """Log the refusal of a provider's token, or count it."""
        of = f" of provider `{refusal.provider}`" if refusal.provider else ""
        self._note((refusal.provider, refusal.kind), f"an access token{of} is refused, {refusal.kind}: {refusal.words}")

    def note_unknown(self, address: str) -> None:
        """Log that a token is not in the file of tokens, or count it. `address` is the client's, or that of a proxy."""
        self._note(("", "unknown"), f"a token is refused that is not known, or no longer; it came from {address}")

    def _note(self, which: tuple[str, str], words: str) -> None:
        now = self._clock()
        if which in self._last and now - self._last[which] < EVERY_S:
            self._between[which] = self._between.get(which, 0) + 1
            return
        self._last[which] = now
        others = self._between.pop(which, 0)
        more = f" ({others} more of this kind since the last line)" if others else ""
        logger.warning("%s%s", words, more)
