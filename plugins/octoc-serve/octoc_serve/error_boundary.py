"""Contains bugs of octoc: logs one line without any value of the work, and lets everything else continue."""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import Iterator

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def error_boundary(what: str) -> Iterator[None]:
    """Log any exception of the block and continue after it; `what` names the work."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # a background task must survive one failure
        tell(what, error)


def tell(what: str, error: Exception) -> None:
    """Log a bug with its place and type. The traceback is at debug level, since it may contain values."""
    logger.error("%s failed with `%s` at %s: this is a bug in octoc", what, type(error).__name__, _place(error))
    logger.debug("the whole of it", exc_info=error)


def _place(error: Exception) -> str:
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{frame.f_globals.get('__name__', '?')}:{line}"
