"""A mistake of octoc's own: told in one line, without anything of what was worked on, and nothing else ends by it."""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import Iterator

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def survived(what: str) -> Iterator[None]:
    """Go on after the block whatever it raises, and have it told; `what` says what was being done."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # what goes on for as long as the gateway runs must not end by one failure
        tell(what, error)


def tell(what: str, error: Exception) -> None:
    """Log that something failed which cannot: where, and as what. The traceback is for `-v`, as it may name values."""
    logger.error("%s failed with `%s` at %s: this is a bug in octoc", what, type(error).__name__, _place(error))
    logger.debug("the whole of it", exc_info=error)


def _place(error: Exception) -> str:
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{frame.f_globals.get('__name__', '?')}:{line}"
