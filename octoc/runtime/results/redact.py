"""Remove a server's secrets from errors and progress."""

from __future__ import annotations

from collections.abc import Callable, Collection

import attrs

from octoc.plain_text import plain, plain_error
from octoc.results import LogMessage, LogWish, Progress, ToolFailure, ToolResult
from octoc.secrets import redact_plain, redactor


def clean_error(outcome: ToolResult | ToolFailure, secrets: Collection[str]) -> ToolResult | ToolFailure:
    """Return a failure, or a result that is an error, without secrets, hidden characters and library addresses.

    Structured content and data only lose their secrets.
    """
    redacted = redactor(secrets)
    if isinstance(outcome, ToolFailure):
        message, text = (plain_error(redacted(one)) for one in (outcome.message, outcome.text))
        return attrs.evolve(outcome, message=message, text=text)
    content = tuple(
        attrs.evolve(
            part,
            text=None if part.text is None else plain_error(redacted(part.text)),
            data=None if part.data is None else redact_plain(part.data, secrets),
        )
        for part in outcome.content
    )
    return attrs.evolve(outcome, content=content, structured=redact_plain(outcome.structured, secrets))


def log_without_secrets(log: LogWish | None, server: str, secrets: Callable[[], tuple[str, ...]]) -> LogWish | None:
    """Return a wish whose messages name their server and have none of its current `secrets()`; None for None."""
    if log is None:
        return None
    hear = log.hear

    def pass_on(message: LogMessage) -> None:
        hear(attrs.evolve(message, server=server, data=redact_plain(message.data, secrets())))

    return attrs.evolve(log, hear=pass_on)


def progress_without_secrets(
    on_progress: Callable[[Progress], None] | None, secrets: Callable[[], tuple[str, ...]]
) -> Callable[[Progress], None] | None:
    """Return a callback that passes progress on without the current `secrets()`; None if `on_progress` is None."""
    if on_progress is None:
        return None
    current: tuple[str, ...] = ()
    redacted = redactor(current)

    def pass_on(progress: Progress) -> None:
        nonlocal current, redacted
        if progress.message:
            if (latest := secrets()) != current:  # a new connection adds some
                current, redacted = latest, redactor(latest)
            progress = attrs.evolve(progress, message=plain(redacted(progress.message)))
        on_progress(progress)

    return pass_on
