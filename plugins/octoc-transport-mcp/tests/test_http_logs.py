"""What the HTTP client and the SDK may log."""

from __future__ import annotations

import logging

import anyio
import pytest

from octoc.plugin import ServerTarget
from octoc_transport_mcp.http_logs import quiet_addresses


def test_an_answer_without_a_reader_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The SDK's traceback of an answer to a cancelled call is dropped; its other errors stay."""
    logger = logging.getLogger("mcp.client.streamable_http")
    with quiet_addresses(ServerTarget(name="s", transport="http", url="https://example.com/mcp")):
        for error in (anyio.BrokenResourceError(), ValueError("no JSON")):
            try:
                raise error
            except Exception:
                logger.exception("Error parsing SSE message")
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["no JSON"]
