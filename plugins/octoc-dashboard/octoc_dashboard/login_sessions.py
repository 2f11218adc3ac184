"""Who has signed in: a cookie has a random name for the visit, and the token stays here, in memory."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

import attrs

VISIT_S = 8 * 3600.0
MOST = 1000


@attrs.frozen
class _Visit:
    token: str = attrs.field(repr=False)
    ends: float


class Visits:
    """The visits of people with tokens: each ends after `VISIT_S`, and the oldest when there are more than `MOST`.

    A token is looked up anew at each request, so that one that was revoked opens nothing any more. What the cookie has
    is kept as a digest.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._visits: OrderedDict[str, _Visit] = OrderedDict()

    def begin(self, token: str) -> str:
        """Return the secret name of a new visit."""
        name = secrets.token_urlsafe(32)
        self._visits[_digest(name)] = _Visit(token, self._clock() + VISIT_S)
        if len(self._visits) > MOST:
            self._visits.popitem(last=False)
        return name

    def token(self, name: str) -> str | None:
        """Return the token of a visit; None when there is none, or no longer."""
        visit = self._visits.get(_digest(name))
        if visit is None:
            return None
        if visit.ends <= self._clock():
            self.end(name)
            return None
        return visit.token

    def end(self, name: str) -> None:
        """Forget a visit, if there is one."""
        self._visits.pop(_digest(name), None)


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
