"""The transport to tool servers of the Octopus REST protocol. Only a connection loads httpx2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from octoc.plugin import STANDARD, TransportKind, hookimpl
from octoc.plugin.toolkit import import_in_thread
from octoc_transport_rest.protocol import KIND

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from octoc.plugin import Application, Connection, Host, LintCheck, PageAccess, ServerTarget, Transport, WebPage

__all__ = ["KIND", "RestTransport", "octoc_lint_rules", "octoc_make_transport", "octoc_pages", "octoc_transport_kinds"]


@attrs.frozen
class RestTransport:
    """Connects to servers that list tools at `GET {url}/tools` and take calls at `POST {url}/tool/{name}/call`."""

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Connection:
        """Connect within `target.timeout_s`. Raises: ConnectFailedError, after stopping all that it started."""
        # httpx2 is slow to load, and the rules of this plugin do not need it.
        module = await import_in_thread("octoc_transport_rest.connection")
        open_connection: Callable[[ServerTarget], Awaitable[Connection]] = module.open_connection
        return await open_connection(target)


@hookimpl
def octoc_lint_rules() -> tuple[LintCheck, ...]:
    """Return the checks of REST servers."""
    from octoc_transport_rest.lint import CHECKS

    return CHECKS


@hookimpl
def octoc_transport_kinds() -> tuple[TransportKind, ...]:
    """Return the kind `rest`."""
    return (STANDARD[KIND],)


@hookimpl
def octoc_pages() -> tuple[WebPage, ...]:
    """Return Octopus's management API of tool groups, read-only."""
    from octoc.plugin import WebPage

    return (WebPage(prefix="/api/octopus/", make=_management),)


def _management(_: PageAccess) -> Application:
    from octoc_transport_rest.management import app

    return app


@hookimpl
def octoc_make_transport(kind: str) -> Transport | None:
    """Return the transport if `kind` is `rest`, else None."""
    return RestTransport() if kind == KIND else None
