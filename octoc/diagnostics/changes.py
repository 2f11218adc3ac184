"""Which findings are new and which are gone, from one look at the same files to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs

from octoc.diagnostics.model import Diagnostic


@attrs.frozen(kw_only=True)
class FindingChanges:
    """Findings of the second look that the first does not have, and the reverse; each in its own order."""

    new: tuple[Diagnostic, ...]
    gone: tuple[Diagnostic, ...]

    def __bool__(self) -> bool:
        return bool(self.new or self.gone)


def changes_of(before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> FindingChanges:
    """Compare findings by file, rule and message, so that one that only moved within its file did not change."""
    return FindingChanges(new=_without(after, before), gone=_without(before, after))


def _without(some: Sequence[Diagnostic], others: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    left = Counter(map(_key, others))
    rest = []
    for one in some:
        key = _key(one)
        if left[key] > 0:
            left[key] -= 1
        else:
            rest.append(one)
    return tuple(rest)


def _key(one: Diagnostic) -> tuple[str, str, str]:
    return ("" if one.span is None else one.span.file, one.rule.code, one.message)
