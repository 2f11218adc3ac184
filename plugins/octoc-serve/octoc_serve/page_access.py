"""What the pages of plugins may read: agents of a token, each checked again at every use."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import attrs

from octoc_serve import queries

if TYPE_CHECKING:
    from octoc.plugin import AgentGroups, AgentOverview, AgentSummary, RoutedMessage, ToolFilter
    from octoc_serve.admission import Admission
    from octoc_serve.server import GatewayServer
    from octoc_serve.session_store import ClientKey


class RevokedError(LookupError):
    """The token was revoked, or its agent is no longer served."""


@attrs.frozen(eq=False)
class GatewayAccess:
    """The gateway's `PageAccess`. Messages are routed one at a time: each explanation routes it once per word."""

    gateway: GatewayServer
    admission: Admission
    routing: asyncio.Lock = attrs.field(factory=asyncio.Lock)

    def agents(self, token: str | None) -> tuple[ServedAgent, ...]:
        return tuple(ServedAgent(self, key) for key in self.admission.admit(token))


@attrs.frozen(eq=False)
class ServedAgent:
    """An agent, and the token and tenant that it is read for."""

    _access: GatewayAccess
    _key: ClientKey = attrs.field(repr=False)

    @property
    def name(self) -> str:
        return self._key.agent

    async def overview(self, tools: ToolFilter) -> AgentOverview:
        self._check()
        return await queries.overview(self._access.gateway, self._key, tools)

    async def summary(self) -> AgentSummary:
        self._check()
        return await queries.summary(self._access.gateway, self._key)

    async def tool_groups(self) -> AgentGroups:
        self._check()
        return await queries.tool_groups(self._access.gateway, self._key)

    async def route(self, message: str) -> RoutedMessage:
        async with self._access.routing:
            self._check()
            return await queries.route(self._access.gateway, self._key, message)

    def _check(self) -> None:
        """Raises: RevokedError."""
        if not self._access.admission.is_current(self._key):
            raise RevokedError(self._key.agent)
