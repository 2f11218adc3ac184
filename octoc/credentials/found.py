"""The credential that a search finds."""

from __future__ import annotations

import attrs


@attrs.frozen
class FoundCredential:
    """One credential in a text, half open, in code points. `name` is what holds it there, empty when nothing does."""

    start: int
    end: int
    name: str = ""
