"""Outcomes in the words of each system: Octo's strings, Octopus's objects, MCP's wire form."""

from __future__ import annotations

import json
import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.results import ContentPart, FailureKind, ToolFailure, ToolResult
from octoc.runtime.results import as_mcp_result, explained, failure, unexplained, worded

KINDS = get_args(FailureKind)
LOST = ToolFailure(kind="connection_lost", message="the server exited with status 9", text="")
BUSY = ToolFailure(kind="unavailable", message="`s` failed 5 times in a row", text="", retry_after_s=11.2)


@pytest.mark.parametrize("profile", ["octoc", "octo"])
def test_a_failed_call_in_octos_words(profile: str) -> None:
    """The text is `[Tool error] tool: Type: message`, and says in whole seconds when to try again."""
    assert worded(LOST, "s__a", profile).text == "[Tool error] s__a: ConnectionError: the server exited with status 9"
    assert worded(BUSY, "s__a", profile).text == (
        "[Tool error] s__a: RuntimeError: `s` failed 5 times in a row; try again in 12 s"
    )


def test_an_unexplained_failure_in_octos_words() -> None:
    """When the explainer itself failed, the text is `[Tool error] tool failed: Type: message`."""
    assert unexplained(LOST, "a") == "[Tool error] a failed: ConnectionError: the server exited with status 9"


def test_an_explained_failure() -> None:
    """The text is `[Tool error]` and the explanation; Octopus gets an object."""
    assert explained("It died.", LOST, "octo") == "[Tool error] It died."
    assert json.loads(explained("It died.", None, "octopus")) == {"error": "tool_error", "message": "It died."}


def test_octopus_hides_what_is_internal() -> None:
    """An unexpected fault is told in Octopus's own words, without the details that the log has."""
    found = failure("internal", "KeyError: 'x'", profile="octopus")
    assert found.text == '{"error": "internal_error", "message": "An internal error occurred. Please try again."}'
    assert worded(found, "a", "octopus").text == found.text
    assert found.message == "KeyError: 'x'"


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
        assert wire["content"][0]["text"].startswith(message)


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
