"""The form of a session's tool block: the provider's format, and how deferred tools are reached."""

from __future__ import annotations

from typing import Literal, get_args

import attrs

from octoc.formats import ToolFormat, provider_of

Deferral = Literal["proxy", "native"]
NATIVE: tuple[ToolFormat, ...] = ("anthropic", "openai-responses")
"""The forms whose APIs load deferred tools themselves."""


@attrs.frozen
class ToolForm:
    """A form of tools. Raises: ValueError for an unknown format, or one that cannot defer natively."""

    format: ToolFormat
    native: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        provider_of(self.format)
        if self.native and self.format not in NATIVE:
            raise ValueError(f"`{self.format}` defers no tools natively: expected one of {', '.join(NATIVE)}")

    @classmethod
    def of(cls, form: ToolFormat, deferred: Deferral) -> ToolForm:
        """Return the form of a block. Raises: ValueError, also for an unknown way to defer tools."""
        if deferred not in get_args(Deferral):
            raise ValueError(f"no tools are deferred by `{deferred}`: expected one of {', '.join(get_args(Deferral))}")
        return cls(form, native=deferred == "native")


MCP = ToolForm("mcp")
"""Tools and arguments as servers have them."""
