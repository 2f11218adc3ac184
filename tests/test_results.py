"""Values at the plugin boundary: what a server says of waiting is bounded, whatever it says."""

from __future__ import annotations

import pytest

from octoc.json_limits import parse
from octoc.plugin import ConnectFailedError
from octoc.results import MAX_WAIT_S, ToolFailure, bounded_wait


@pytest.mark.parametrize(
    "asked, wait",
    [
        (None, None),
        (7, 7.0),
        (-1.0, 0.0),
        (10**400, MAX_WAIT_S),
        (float("inf"), MAX_WAIT_S),
        (float("nan"), None),
    ],
    ids=["none", "a wait", "negative", "no float holds it", "infinite", "no number"],
)
def test_a_wait_is_bounded(asked: float | None, wait: float | None) -> None:
    """No wait is longer than a day or negative, of a failure and of a connection that failed, too."""
    assert bounded_wait(asked) == wait
    failed = ToolFailure(kind="unavailable", message="m", text="t", retry_after_s=asked)
    assert failed.retry_after_s == wait
    assert ConnectFailedError("m", retry_after_s=asked).retry_after_s == wait


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "-1e400"])
def test_a_number_that_json_does_not_have_is_refused(text: str) -> None:
    """Also one that is written as JSON and that no float holds."""
    with pytest.raises(ValueError, match=r"is not JSON|is too large"):
        parse(text.encode())
