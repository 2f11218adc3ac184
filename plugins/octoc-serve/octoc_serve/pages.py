"""The pages that plugins add to the gateway: which page answers a path, and who reaches it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers

from octoc.plugin import AGENTS, load_plugins
from octoc_serve.admission import bearer_text
from octoc_serve.error_boundary import error_boundary, tell
from octoc_serve.paths import DEFAULT_PATH
from octoc_serve.status_response import BEARER, send_status

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from starlette.types import Receive, Scope, Send

    from octoc.plugin import Application, PageAccess, WebPage
    from octoc.runtime import Runtime

logger = logging.getLogger(__name__)

DASHBOARD = "dashboard"


def pages_of(runtime: Runtime) -> tuple[Sequence[WebPage], bool]:
    """Return the pages of the bundle's plugins and of the dashboard, and whether the dashboard is installed."""
    pages = runtime.plugins.pages()
    if DASHBOARD in runtime.bundle.plugins:
        return pages, DASHBOARD not in runtime.plugins.missing
    dashboard = load_plugins([DASHBOARD])
    return (*pages, *dashboard.pages()), DASHBOARD not in dashboard.missing


class Pages:
    """The ASGI application of all paths that are neither MCP nor a probe. Its caller has refused foreign origins."""

    def __init__(self, pages: Sequence[WebPage], access: PageAccess) -> None:
        self._access = access
        self._applications: dict[str, tuple[WebPage, Application]] = {}
        for page in pages:
            if page.prefix in self._applications:
                logger.error("two plugins have a page at `%s`: the second is left out", page.prefix)
                continue
            with error_boundary(f"making the page at `{page.prefix}`"):
                self._applications[page.prefix] = (page, page.make(access))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        prefix = max((one for one in self._applications if scope["path"].startswith(one)), key=len, default=None)
        if prefix is None:
            await send_status(send, 404, f"there is nothing here: MCP is at {DEFAULT_PATH}")
            return
        page, application = self._applications[prefix]
        if page.access == "token":
            agents = self._access.agents(bearer_text(Headers(scope=scope).get("authorization", "")))
            if not agents:
                await send_status(send, 401, "this page needs a token", challenge=BEARER)
                return
            scope[AGENTS] = agents
        await _run(application, scope, receive, send)


async def _run(application: Application, scope: Scope, receive: Receive, send: Send) -> None:
    begun = False

    async def noted(message: MutableMapping[str, Any]) -> None:
        nonlocal begun
        begun = True
        await send(message)

    try:
        await application(scope, receive, noted)
    except Exception as error:  # noqa: BLE001  # one page's fault ends no gateway, and shows a visitor no traceback
        tell("showing the page", error)
        if not begun:
            await send_status(send, 500, "the page failed; the gateway's log says where")
