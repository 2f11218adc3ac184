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
    """Counts refusals by provider and kind, both of which are few."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: dict[tuple[str, str], float] = {}
        self._between: dict[tuple[str, str], int] = {}

    def note(self, refusal: TokenRefusal) -> None:
        """Log a refusal, or count it."""
        which = (refusal.provider, refusal.kind)
        now = self._clock()
        if which in self._last and now - self._last[which] < EVERY_S:
            self._between[which] = self._between.get(which, 0) + 1
            return
        self._last[which] = now
        others = self._between.pop(which, 0)
        of = f" of provider `{refusal.provider}`" if refusal.provider else ""
        more = f" ({others} more of this kind since the last line)" if others else ""
        logger.warning("an access token%s is refused, %s: %s%s", of, refusal.kind, refusal.words, more)
