"""Credentials in headers that refer to something: after a 401 they are resolved again, since tokens are rotated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from http import HTTPStatus

import httpx2

from octoc.plugin.protocols import ServerTarget

Raw = Mapping[str, tuple[bytes, bytes]]


class RenewedHeaders(httpx2.Auth):
    """Sends a target's headers as they were last resolved, to its own origin, and again after a 401 if they changed.

    A 401 says that the request was not executed, so that it may be sent once more whatever it asks.
    """

    def __init__(self, target: ServerTarget) -> None:
        self._target = target
        self._url = httpx2.URL(target.url or "")
        self._lock = asyncio.Lock()
        self.headers: Mapping[str, str] = dict(target.headers)
        self.raw: Raw = _raw(self.headers)
        """The headers as bytes, by their names in lower case."""
        self.refusal = ""
        self.secrets: set[str] = set()

    async def other(self, used: Mapping[str, str]) -> bool:
        """Tell whether there are other headers than `used`, which the server refused; resolves them anew."""
        async with self._lock:
            if self.headers is not used:
                return True  # another call has resolved them meanwhile
            renewed = None if self._target.renew is None else await self._target.renew()
            if renewed is None or dict(renewed.headers) == used:
                return False
            self.secrets.update(renewed.secrets)
            self.headers = dict(renewed.headers)
            self.raw = _raw(self.headers)
            return True

    def apply(self, request: httpx2.Request) -> None:
        """Give a request to the target's own origin the headers as they are now."""
        for name, value in self.headers.items():
            request.headers[name] = value

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request, and once more when it was refused and the headers' references have other values now."""
        url, own = request.url, self._url
        if (url.scheme, url.host, url.port) != (own.scheme, own.host, own.port):
            yield request
            return
        used = self.headers
        self.apply(request)
        answer = yield request
        if answer.status_code == HTTPStatus.UNAUTHORIZED and await self.other(used):
            self.apply(request)
            yield request

    def sync_auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        """Do nothing for a client that does not wait. Raises: RuntimeError."""
        raise RuntimeError(f"a request to {request.url.host} can only be sent by an asynchronous client")


def _raw(headers: Mapping[str, str]) -> Raw:
    return {name.lower(): (name.encode(), value.encode()) for name, value in headers.items()}
