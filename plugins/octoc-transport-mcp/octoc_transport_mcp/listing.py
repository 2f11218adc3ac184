"""Lists a server's tools, page by page and with limits, and reports changes of the list in both eras."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import mcp_types
from mcp.client.subscriptions import ListenNotSupportedError
from mcp.shared.exceptions import MCPError

from octoc.plugin import ConnectFailedError, ServerTarget
from octoc.plugin.toolkit import plain
from octoc_transport_mcp.lenient import MAX_NAME_CHARS, META_LEFT_OUT, REST, PageRest
from octoc_transport_mcp.pending_requests import MAX_TOOLS

if TYPE_CHECKING:
    from mcp.client.client import Client

log = logging.getLogger(__name__)

MAX_PAGES = 500
"""Maximum number of pages: a server may send new cursors forever."""
MAX_LEFT_OUT = 100
REPORT_S = 0.05
"""Delay before a change is reported, so that many changes at once are one report."""
RELISTEN_S = 1.0
RELISTEN_MAX_S = 60.0
"""Wait before a broken stream of news is opened again, doubled each time, and its maximum."""
_CHANGED = (
    mcp_types.ToolListChangedNotification,
    mcp_types.ResourceListChangedNotification,
    mcp_types.PromptListChangedNotification,
)
_UNHEARD_OF = frozenset({mcp_types.METHOD_NOT_FOUND, mcp_types.INVALID_PARAMS, mcp_types.INVALID_REQUEST})


@attrs.frozen
class ToolList:
    """The tools of all pages, in order, and a line for each left-out tool, at most `MAX_LEFT_OUT`."""

    tools: list[mcp_types.Tool]
    left_out: tuple[str, ...]


async def all_tools(client: Client, target: ServerTarget) -> ToolList:
    """Return the tools of all pages; if two have the same name, only the first. Raises: ConnectFailedError."""
    tools: dict[str, mcp_types.Tool] = {}
    left_out: list[str] = []
    before = 0
    seen: set[str] = set()
    cursor: str | None = None
    rest = PageRest()
    REST.set(rest)
    while True:
        page = await client.list_tools(cursor=cursor)
        unusable: Mapping[str, str] = (page.meta or {}).get(META_LEFT_OUT, {})
        total = len(page.tools) + len(unusable)
        given = iter(page.tools)
        for index in range(total):
            why = unusable.get(str(index))
            if why is None:
                tool = next(given)
                if tool.name not in tools:
                    tools[tool.name] = tool
                    continue
                why = f"has the name `{plain(tool.name)[:MAX_NAME_CHARS]}` of another one before it"
                log.warning("server `%s` lists a tool twice: number %d %s", target.name, before + index + 1, why)
            if len(left_out) < MAX_LEFT_OUT:
                left_out.append(f"number {before + index + 1}: it {why}")
        before += total
        if len(tools) > MAX_TOOLS:
            raise ConnectFailedError(
                f"`{target.name}` lists more than {MAX_TOOLS} tools, which is more than are read", kind="too_large"
            )
        cursor = page.next_cursor
        if rest.tools:
            continue  # `cursor` asks for the rest of this page
        if cursor is None:  # an empty string is a cursor like any other
            return ToolList(list(tools.values()), tuple(left_out))
        if cursor in seen:
            raise _endless(target, "it repeats a page's cursor")
        seen.add(cursor)
        if len(seen) >= MAX_PAGES:
            raise _endless(target, f"{MAX_PAGES} pages were not all")


def _endless(target: ServerTarget, why: str) -> ConnectFailedError:
    return ConnectFailedError(f"`{target.name}` lists its tools without end: {why}", kind="protocol")


class ListChanges:
    """Reports that one of a server's lists changed; several changes at once are one report."""

    def __init__(self, server: str, report: Callable[[str], None] | None) -> None:
        self._server = server
        self._report = report
        self._later: asyncio.TimerHandle | None = None

    async def hear(self, message: Any) -> None:
        """Handle a notification, or an error with one, from the SDK."""
        if isinstance(message, _CHANGED):
            self.note()

    def note(self) -> None:
        """Note a change."""
        if self._report is not None and self._later is None:
            self._later = asyncio.get_running_loop().call_later(REPORT_S, self._send_report)

    def _send_report(self) -> None:
        self._later = None
        if self._report is not None:
            try:
                self._report(self._server)
            except Exception:
                # The host's own fault. The event loop calls this, so no caller could handle the exception.
                log.exception("the host's `tools_changed` failed for server `%s`", self._server)

    async def listen(self, client: Client) -> None:
        """Keep a stream of news open, if the server has one. In the older era it sends news without a stream."""
        can = client.server_capabilities
        tools, resources, prompts = (
            one is not None and bool(one.list_changed) for one in (can.tools, can.resources, can.prompts)
        )
        if self._report is None or not (tools or resources or prompts):
            return
        wait = RELISTEN_S
        is_first = True
        while True:
            try:
                async with client.listen(
                    tools_list_changed=tools, resources_list_changed=resources, prompts_list_changed=prompts
                ) as news:
                    if not is_first:
                        self.note()  # news sent meanwhile are lost
                    wait, is_first = RELISTEN_S, False
                    async for _ in news:
                        self.note()
            except ListenNotSupportedError:
                return
            except MCPError as error:
                if error.code in _UNHEARD_OF or error.code == mcp_types.CONNECTION_CLOSED:
                    return
            except Exception as error:  # noqa: BLE001  # the server's tools work without the stream
                log.debug("the news of server `%s` broke off: %s", self._server, type(error).__name__)
            await asyncio.sleep(wait)
            wait = min(2 * wait, RELISTEN_MAX_S)

    def close(self) -> None:
        """Stop reporting."""
        self._report = None
        if self._later is not None:
            self._later.cancel()
            self._later = None
