"""What a list of tools may hold: real sockets on the loopback."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from octoc.plugin import ConnectFailedError, ServerListing
from octoc.testing import REST_TOKEN, http_response, send_and_close


@pytest.fixture
def listed(listing_of: Callable[..., ServerListing]) -> Callable[[Any], ServerListing]:
    """A function of a JSON value: the listing of a server that answers it. Raises: ConnectFailedError."""
    return lambda descriptors: listing_of(send_and_close(http_response(json.dumps(descriptors).encode())))


def descriptor(name: Any, **more: Any) -> dict[str, Any]:
    """Return a sound descriptor, changed by `more`."""
    return {"name": name, "description": "d", "inputSchema": {"type": "object"}, **more}


def test_a_hundred_tools_are_taken(caplog: pytest.LogCaptureFixture, listed: Callable[[Any], ServerListing]) -> None:
    """Of 103 tools the first 100 are listed, and a warning counts and names the rest."""
    listing = listed([descriptor(f"t{n}") for n in range(103)])
    assert [tool.name for tool in listing.tools] == [f"t{n}" for n in range(100)]
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    expected = "`orders` lists 103 tools: the first 100 are taken, and 3 left out: `t100`, `t101`, `t102`"
    assert record.getMessage() == expected
    assert listing.server_info["toolsLeftOut"] == 3


@pytest.mark.parametrize(
    "broken, why",
    [
        (descriptor("get-order"), "`get-order` is not of the form"),
        (descriptor("Upper"), "`Upper` is not of the form"),
        (descriptor("a.b"), "is not of the form"),
        (descriptor("a b"), "is not of the form"),
        (descriptor("../x\n"), "is not of the form"),
        (descriptor(""), "is not of the form"),
        (descriptor(7), "has no `name`"),
        ("text", "it is not an object"),
        (descriptor("good"), "`good` is listed already"),
        ({"name": "x", "inputSchema": {}}, "`x` has no `description`"),
        ({"name": "x", "description": "d"}, "`x` has no `inputSchema`"),
        (descriptor("x", inputSchema=True), "`x` has no `inputSchema`"),
        (descriptor("x", outputSchema=[]), "`outputSchema` of `x` is not an object"),
        (descriptor(REST_TOKEN), "`***` is not of the form"),
    ],
)
def test_a_tool_that_breaks_the_rules_is_left_out(
    broken: Any, why: str, caplog: pytest.LogCaptureFixture, listed: Callable[[Any], ServerListing]
) -> None:
    """A descriptor that breaks a rule is left out with a warning in one line, and the others are listed."""
    listing = listed([descriptor("good", description="first"), broken, descriptor("better", outputSchema={})])
    assert [tool.name for tool in listing.tools] == ["good", "better"]
    assert listing.tools[0].description == "first"
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert why in record.getMessage()
    assert "number 2" in record.getMessage()
    assert "\n" not in record.getMessage()


@pytest.mark.parametrize("body", [{"tools": []}, "tools", None])
def test_a_listing_that_is_no_array_fails(body: Any, listed: Callable[[Any], ServerListing]) -> None:
    """A list of tools has to be a JSON array."""
    with pytest.raises(ConnectFailedError, match="other than a JSON array"):
        listed(body)


def test_the_servers_version_is_told(listed: Callable[[Any], ServerListing]) -> None:
    """The version that `/health` tells is part of the listing."""
    assert listed([]).server_info == {"version": "1.2.3"}
