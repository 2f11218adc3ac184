"""Outcomes in the words of each system: Octo's strings, Octopus's objects, MCP's wire form."""

from __future__ import annotations

import json
import math
from typing import get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.plain_text import plain_error
from octoc.results import ContentPart, FailureKind, ToolFailure, ToolResult
from octoc.runtime.results.failures import as_mcp_result, explained, failure, named_error, unexplained, worded

KINDS = get_args(FailureKind)
LOST = ToolFailure(kind="connection_lost", message="the server exited with status 9", text="")
BUSY = ToolFailure(kind="unavailable", message="`s` failed 5 times in a row", text="", retry_after_s=11.2)


@pytest.mark.parametrize("profile, lost, busy", [("octoc", "", ""), ("octo", "ConnectionError: ", "RuntimeError: ")])
def test_a_failed_call_names_the_tool(profile: str, lost: str, busy: str) -> None:
    """The text is `[Tool error] tool: message`, with seconds to wait; Octo's has the type of an exception, too."""
    assert worded(LOST, "s__a", profile).text == (
        f"[Tool error] s__a: {lost}the server exited with status 9; it may have taken effect"
    )
    assert worded(BUSY, "s__a", profile).text == (
        f"[Tool error] s__a: {busy}`s` failed 5 times in a row; try again in 12 s"
    )


@pytest.mark.parametrize("profile", ["octoc", "octo", "octopus"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_answer_may_have_taken_effect(profile: str, kind: FailureKind) -> None:
    """The text says so once where the call was sent, now or in an earlier try; an answer is never lost."""
    lost = {"connection_lost", "timeout", "cancelled", "too_large", "protocol", "internal"}
    for sent, before in ((False, False), (True, False), (False, True), (True, True)):
        found = worded(ToolFailure(kind=kind, message="m", text="", sent=sent), "a", profile, sent_before=before)
        is_lost = before or (sent and kind in lost)
        assert found.text.count("it may have taken effect") == is_lost
        assert worded(found, "a", profile, sent_before=before) == found
        assert found.sent == (sent or before)
        assert ("it may have taken effect" in explained("It died.", found, profile)) == is_lost


def test_a_tools_own_error_in_octos_words() -> None:
    """Octo names the tool, and what its client raises for an error result or a JSON-RPC error."""
    result = ToolResult(content=(ContentPart(type="text", text="no"),), structured={"a": 1}, is_error=True)
    assert named_error(result, "s__a").text == "[Tool error] s__a: ToolException: no"
    assert named_error(attrs.evolve(result, rpc_code=-1), "s__a").text == "[Tool error] s__a: McpError: no"
    failed = named_error(result, "s__a", explainer_failed=True)
    assert (failed.text, failed.structured) == ("[Tool error] s__a failed: ToolException: no", {"a": 1})


def test_an_unexplained_failure_in_octos_words() -> None:
    """When the explainer itself failed, the text is `[Tool error] tool failed: Type: message`."""
    assert unexplained(LOST, "a") == "[Tool error] a failed: ConnectionError: the server exited with status 9"


def test_an_explained_failure() -> None:
    """The text is `[Tool error]` and the explanation; Octopus gets an object."""
    assert explained("It died.", BUSY, "octo") == "[Tool error] It died. Try again in 12 s"
    assert explained("It died.", None, "octo") == "[Tool error] It died."
    assert json.loads(explained("It died.", None, "octopus")) == {"error": "tool_error", "message": "It died."}


def test_octopus_hides_what_is_internal() -> None:
    """An unexpected fault has Octopus's own words, without the details in the log."""
    found = failure("internal", "no `x`", profile="octopus")
    assert found.text == '{"error": "internal_error", "message": "An internal error occurred. Please try again."}'
    assert worded(found, "a", "octopus").text == found.text
    assert found.message == "no `x`"


def test_octopus_is_told_seconds_and_field() -> None:
    """`retry_after` is whole seconds, `field` the argument that is wrong."""
    assert json.loads(worded(BUSY, "a", "octopus").text) == {
        "error": "unavailable",
        "message": "`s` failed 5 times in a row",
        "retry_after": 12,
    }
    assert json.loads(failure("bad_request", "m", profile="octopus", field="/a").text)["field"] == "/a"


@pytest.mark.parametrize("seconds", [None, 0.0, -3.0, math.inf, math.nan])
def test_a_wait_that_is_none_is_not_told(seconds: float | None) -> None:
    """No, zero, negative and endless waits add nothing."""
    assert failure("timeout", "m", retry_after_s=seconds).text == "[Error] m"
    assert "retry_after" not in failure("timeout", "m", retry_after_s=seconds, profile="octopus").text


@given(
    kind=st.sampled_from(KINDS),
    message=st.text(max_size=20),
    similar=st.lists(st.text(max_size=5), max_size=3),
    retry=st.none() | st.floats(),
    profile=st.sampled_from(["octoc", "octo", "octopus"]),
)
def test_every_failure_has_words_in_every_profile(
    kind: FailureKind, message: str, similar: list[str], retry: float | None, profile: str
) -> None:
    """Whatever failed, Octo's text has its mark, Octopus's is JSON with code and message, and MCP's says isError."""
    for found in (
        failure(kind, message, profile=profile, similar=similar, retry_after_s=retry),
        worded(ToolFailure(kind=kind, message=message, text="", retry_after_s=retry), "tool", profile),
    ):
        if profile == "octopus":
            assert {"error", "message"} <= json.loads(found.text).keys()
        else:
            assert found.text.startswith(("[Error] ", "[Tool error] tool: "))
        wire = json.loads(json.dumps(as_mcp_result(found), allow_nan=False))
        assert wire["isError"] is True
        assert wire["content"][0]["text"].startswith(plain_error(message))
        assert as_mcp_result(found, "octo")["content"][0]["text"] == found.text


def test_a_failure_as_mcp_has_it() -> None:
    """One text part with near names and the wait; kind and seconds stand in `_meta`."""
    found = ToolFailure(
        kind="not_found", message="no `a`", text="[Error] …", similar=("b", "c"), retry_after_s=1.5
    )  # fmt: skip
    assert as_mcp_result(found) == {
        "content": [{"type": "text", "text": "no `a`; near names: b, c; try again in 2 s"}],
        "isError": True,
        "_meta": {"octoc/kind": "not_found", "octoc/retryAfter": 1.5},
    }


def test_a_result_as_mcp_has_it() -> None:
    """Parts keep their wire form with the text as it was cut; structured content and a handle have their places."""
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    result = ToolResult(
        content=(
            ContentPart(
                type="text", text="cut", data={"type": "text", "text": "whole", "annotations": {"priority": 1}}
            ),
            ContentPart(type="image", data=image),
        ),
        structured={"a": 1},
        handle="r1",
    )
    assert as_mcp_result(result) == {
        "content": [{"type": "text", "text": "cut", "annotations": {"priority": 1}}, image],
        "structuredContent": {"a": 1},
        "isError": False,
        "_meta": {"octoc/handle": "r1"},
    }


def test_a_tools_own_error_as_mcp_has_it() -> None:
    """The server's own word that a call failed stays."""
    assert as_mcp_result(ToolResult.of_text("no", is_error=True)) == {
        "content": [{"type": "text", "text": "no"}],
        "isError": True,
    }


def test_mcps_own_types_take_it() -> None:
    """The SDK reads the wire object of every kind of outcome as its CallToolResult."""
    types = pytest.importorskip("mcp_types")
    for outcome in (BUSY, ToolResult.of_text("x"), ToolResult(content=(), structured={"a": 1}, handle="h")):
        read = types.CallToolResult.model_validate(as_mcp_result(outcome))
        assert bool(read.is_error) is not outcome.ok
