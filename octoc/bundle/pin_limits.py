"""How far a server may differ from its pins."""

from __future__ import annotations

import attrs

from octoc.choices import PinMode


@attrs.frozen(kw_only=True)
class PinLimits:
    """What becomes of tools that differ from their pins, by the class of the change, and of servers without pins."""

    breaking: PinMode = "warn"
    widening: PinMode = "warn"
    wording: PinMode = "warn"
    unpinned: PinMode = "allow"

    @property
    def refuses(self) -> bool:
        """Whether any change is refused, so that a server must be listed before a call."""
        return "refuse" in (self.breaking, self.widening, self.wording)

    @property
    def judges(self) -> bool:
        """Whether the class of a change counts."""
        return {self.breaking, self.widening, self.wording} != {"warn"}
