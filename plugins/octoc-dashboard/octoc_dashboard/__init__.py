"""What people see of a gateway: a page within the scope of their token. Reads, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc_serve.door import Application, Door

__all__ = ["routes"]


def routes(door: Door) -> Application:
    """Return what answers every path that is not MCP's or a probe's.

    The caller has refused foreign hosts and origins by then; who the visitor is, `door` tells.
    """
    from octoc_serve.page.site import Site  # a gateway over stdio has no page

    return Site(door)
