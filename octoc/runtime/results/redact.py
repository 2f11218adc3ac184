"""Keeping what a server was given out of what it says when something fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import overload

import attrs

from octoc.plain_text import plain, plain_error
from octoc.results import ContentPart, Progress, ToolFailure, ToolResult
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


def plain_outcome(outcome: ToolResult | ToolFailure) -> ToolResult | ToolFailure:
    """Return a failure, or the texts of a result that is an error, without hidden characters and library addresses.

    Structured content and everything that is no error stay as the server sent them.
    """
    if isinstance(outcome, ToolFailure):
        return attrs.evolve(outcome, message=plain_error(outcome.message), text=plain_error(outcome.text))
    content = tuple(
        part if part.text is None else attrs.evolve(part, text=plain_error(part.text)) for part in outcome.content
    )
    return outcome if content == outcome.content else attrs.evolve(outcome, content=content)


def progress_without_secrets(
    heard: Callable[[Progress], None] | None, secrets: Callable[[], tuple[str, ...]]
) -> Callable[[Progress], None] | None:
    """Return what passes progress on to `heard` without what `secrets` returns by then; None where nobody listens."""
    if heard is None:
        return None
    known: tuple[str, ...] = ()
    redacted = redactor(known)

    def told(progress: Progress) -> None:
        nonlocal known, redacted
        if progress.message:
            if (now := secrets()) != known:  # a connection that is made meanwhile brings some
                known, redacted = now, redactor(now)
            progress = attrs.evolve(progress, message=plain(redacted(progress.message)))
        heard(progress)

    return told


def _part(part: ContentPart, secrets: tuple[str, ...]) -> ContentPart:
    text = None if part.text is None else redactor(secrets)(part.text)
    return attrs.evolve(part, text=text, data=None if part.data is None else redact_plain(part.data, secrets))
