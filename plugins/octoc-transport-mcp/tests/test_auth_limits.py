"""Limits on the answers of an authorization server."""

import asyncio
import contextlib
import gzip
from collections.abc import AsyncGenerator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx2
import pytest

from octoc.plugin import ConnectFailedError, ServerTarget
from octoc_transport_mcp.auth_sdk import MAX_BODY_BYTES, drive


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_an_answer_over_the_limit_is_refused(encoding: str) -> None:
    """The limit counts decompressed bytes, and the message names it."""
    body = b" " * (2 * MAX_BODY_BYTES)

    class Long(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Encoding", encoding)
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(gzip.compress(body) if encoding == "gzip" else body)

    class Flow(httpx2.Auth):
        async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            yield httpx2.Request("GET", f"http://127.0.0.1:{server.server_port}/")

    with ThreadingHTTPServer(("127.0.0.1", 0), Long) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        target = ServerTarget(name="web", transport="http", url="https://web.example/mcp")
        try:
            with pytest.raises(ConnectFailedError, match=f"answered with more than {MAX_BODY_BYTES} bytes"):
                asyncio.run(drive(Flow(), httpx2.Request("POST", target.url or ""), None, target))
        finally:
            server.shutdown()
