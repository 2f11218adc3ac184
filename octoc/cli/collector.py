"""Python's garbage collector while one short command runs."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# A check of a large tap makes a few million objects and few circles. Python's default of 700 starts thousands of
# collections, a tenth of the time; a million starts a few, so memory still has a limit.
_FEW = 1_000_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage rarely until the block ends, then as before."""
    before = gc.get_threshold()
    gc.set_threshold(_FEW, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
