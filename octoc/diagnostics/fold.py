"""Fold findings that say the same of many places into one with a count."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from octoc.diagnostics.model import Diagnostic

_SHOWN = 3


def folded(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the findings in their order; of those with one rule, severity and subject, the first with a count.

    A finding without a subject stays as it is, and so does one with a fix, which is about its own place.
    """
    groups: dict[object, list[Diagnostic]] = {}
    for one in found:
        key: object = (one.rule.code, one.severity, one.subject) if one.subject and one.fix is None else one.sort_key
        groups.setdefault(key, []).append(one)
    return tuple(_joined(group) for group in groups.values())


def _joined(group: list[Diagnostic]) -> Diagnostic:
    first, *others = group
    if not others:
        return first
    places = [f"`{one.span.file}:{one.span.line or 1}`" for one in others if one.span is not None]
    more = len(others) - len(places[:_SHOWN])
    rest = f" and {more} more place{'s' * (more > 1)}" if more else ""
    note = f"also at {', '.join(places[:_SHOWN])}{rest}"
    return attrs.evolve(first, message=f"{first.message} (and {len(others)} more)", notes=(*first.notes, note))
