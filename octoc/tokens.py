"""The token counter that needs no model: an approximation from the length of the text, named as what it is."""

from __future__ import annotations

import attrs

CHARS_PER_TOKEN = 4


@attrs.frozen
class ApproximateCounter:
    """Counts a token for every `CHARS_PER_TOKEN` characters, and at least one.

    Source: Octopus, working memory, the approximate counter.
    """

    name: str = "chars/4"

    def count(self, text: str) -> int:
        """Return the number of tokens that `text` has about."""
        return max(1, len(text) // CHARS_PER_TOKEN)


APPROXIMATE = ApproximateCounter()
