"""Lists what a server offers beside its tools: resources, templates and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import mcp_types
from mcp.shared.exceptions import MCPError

from octoc.plugin import ListedOffer, ServerTarget
from octoc_transport_mcp.conversion import wire_of
from octoc_transport_mcp.failures import leaf, one_line
from octoc_transport_mcp.pending_requests import MAX_TOOLS

if TYPE_CHECKING:
    from mcp.client.client import Client

MAX_PAGES = 500
"""Maximum number of pages of one list: a server may send new cursors forever."""
MAX_OFFERS = MAX_TOOLS
_NONE = frozenset({mcp_types.METHOD_NOT_FOUND})


class OffersError(Exception):
    """A list without an end, or with too many entries."""


@attrs.frozen
class OfferList:
    """A list of one kind of offer. `capability` is the server's capability without which the list is empty."""

    kind: Any
    capability: str
    method: str
    key: str
    name: str
    page: type[Any]


LISTS = (
    OfferList(
        "resource", "resources", "list_resources", "resources", "uri", mcp_types.ListResourcesResult,
    ),
    OfferList(
        "template", "resources", "list_resource_templates", "resource_templates", "uri_template",
        mcp_types.ListResourceTemplatesResult,
    ),
    OfferList(
        "prompt", "prompts", "list_prompts", "prompts", "name", mcp_types.ListPromptsResult,
    ),
)  # fmt: skip


def features_of(client: Client) -> tuple[str, ...]:
    """Return what a server declares beside lists: `completions`, `logging`, `subscribe`."""
    can = client.server_capabilities
    declared = {
        "completions": can.completions is not None,
        "logging": can.logging is not None,
        "subscribe": can.resources is not None and bool(can.resources.subscribe),
    }
    return tuple(name for name, has in declared.items() if has)


async def list_offers(client: Client, target: ServerTarget) -> tuple[tuple[ListedOffer, ...], str]:
    """Return a server's resources, templates and prompts, or else why they could not be listed."""
    found: list[ListedOffer] = []
    for listed in LISTS:
        if getattr(client.server_capabilities, listed.capability) is None:
            continue
        try:
            found += await _all_of(listed, client)
        except Exception as error:  # noqa: BLE001  # whatever the server did, its tools can be used
            cause = leaf(error)
            if isinstance(cause, MCPError) and cause.code in _NONE:
                continue
            why = one_line(str(cause), target) or type(cause).__name__
            return (), f"`{target.name}` could not list its {listed.key.replace('_', ' ')}: {why}"
    return tuple(found), ""


async def _all_of(listed: OfferList, client: Client) -> list[ListedOffer]:
    """Return all pages of a list; if two offers have the same name, only the first."""
    by_name: dict[str, ListedOffer] = {}
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = await getattr(client, listed.method)(cursor=cursor)
        for item in getattr(page, listed.key):
            name = getattr(item, listed.name)
            by_name.setdefault(name, ListedOffer(kind=listed.kind, name=name, wire=wire_of(item)))
        if len(by_name) > MAX_OFFERS:
            raise OffersError(f"more than {MAX_OFFERS} are not read")
        cursor = page.next_cursor
        if cursor is None:
            return list(by_name.values())
        if cursor in seen or len(seen) >= MAX_PAGES:
            raise OffersError("the list has no end")
        seen.add(cursor)
