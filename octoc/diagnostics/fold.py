"""Fold findings that say the same of many places into one with a count."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity

_SHOWN = 3


def folded(found: Iterable[Diagnostic], most: Severity = Severity.ERROR) -> tuple[Diagnostic, ...]:
    """Return the findings in their order; of those that one kind of edit removes, the first with a count.

    They have one rule, one severity, one subject (without a subject: one message and one help) and one title of their
    fixes. A finding without a place, or above the severity `most`, stays as it is. The joined finding has the fix of
    its first place.
    """
    groups: dict[object, list[Diagnostic]] = {}
    for one in found:
        alone = one.span is None or one.severity > most
        key: object = len(groups) if alone else (one.rule.code, one.severity, *_subject(one))
        groups.setdefault(key, []).append(one)
    return tuple(_joined(group) for group in groups.values())


def _subject(one: Diagnostic) -> tuple[str | None, ...]:
    title = None if one.fix is None else one.fix.title
    return (one.subject, title) if one.subject else (one.message, one.help, title)


def _joined(group: list[Diagnostic]) -> Diagnostic:
    first, *others = group
    if not others:
        return first
    places = [f"`{one.span.file}:{one.span.line or 1}`" for one in others if one.span is not None]
    more = len(places) - _SHOWN
    rest = f" and {more} more place{'s' * (more > 1)}" if more > 0 else ""
    note = f"also at {', '.join(places[:_SHOWN])}{rest}"
    return attrs.evolve(first, message=f"{first.message} (and {len(others)} more)", notes=(*first.notes, note))
