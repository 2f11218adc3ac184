"""Keeping what a server was given out of what it says when something fails."""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

import attrs

from octoc.results import ContentPart, ToolFailure, ToolResult
from octoc.secrets import redact_plain, redactor


@overload
def without_secrets(outcome: ToolFailure, secrets: Iterable[str]) -> ToolFailure: ...
@overload
def without_secrets(outcome: ToolResult, secrets: Iterable[str]) -> ToolResult: ...
def without_secrets(outcome: ToolResult | ToolFailure, secrets: Iterable[str]) -> ToolResult | ToolFailure:
    """Return a failure, or a result that says of itself that it is one, with each of `secrets` cut out of all texts."""
    secrets = tuple(secrets)
    if not secrets:
        return outcome
    if isinstance(outcome, ToolFailure):
        redacted = redactor(secrets)
        return attrs.evolve(outcome, message=redacted(outcome.message), text=redacted(outcome.text))
    return attrs.evolve(
        outcome,
        content=tuple(_part(part, secrets) for part in outcome.content),
        structured=redact_plain(outcome.structured, secrets),
    )


def _part(part: ContentPart, secrets: tuple[str, ...]) -> ContentPart:
    text = None if part.text is None else redactor(secrets)(part.text)
    return attrs.evolve(part, text=text, data=None if part.data is None else redact_plain(part.data, secrets))
