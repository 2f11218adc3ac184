"""A web page at the gateway, within the scope of a visitor's token. It reads, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from octoc.plugin import hookimpl

if TYPE_CHECKING:
    from octoc.plugin import Application, PageAccess, WebPage

__all__ = ["octoc_pages"]


@hookimpl
def octoc_pages() -> Iterable[WebPage]:
    """Return the dashboard, which answers every path that no other page has."""
    from octoc.plugin import WebPage

    return (WebPage(prefix="/", make=_make, access="sign-in"),)


def _make(access: PageAccess) -> Application:
    from octoc_dashboard.app import make_app  # Starlette and Jinja2, for a gateway over HTTP alone

    return make_app(access)
