"""Fields that the schemas allow and do not know: reported with near names, and left behind by structure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.fixes.edits import renamed, replaced
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.suggest import slip_of_key, slips_of

EMPTY: Mapping[str, str] = MappingProxyType({})


def word_for(key: str, other_words: Mapping[str, str]) -> str | None:
    """Return the key that `key`, or what it is a slip of, is another word for."""
    return other_words.get(key) or next((other_words[one] for one in slips_of(key, other_words)), None)


def report_unknown_fields(
    values: Mapping[str, Any],
    known: frozenset[str],
    path: KeyPath,
    inspection: FileInspection,
    *,
    open_ended: bool = False,
    of_others: frozenset[str] = frozenset(),
    other_words: Mapping[str, str] = EMPTY,
) -> None:
    """Report the keys of `values`, which stand at `path`, that are not `known`.

    With `open_ended` other programs add keys of their own, so one that is near no known key is only information.
    `of_others` are keys that other programs read: they are not slips of known ones. `other_words` are what people write
    for a known key -> the key.
    Keys that start with `x-` or `_` are the author's own.
    """
    unknown = [key for key in values if key not in known and not str(key).startswith(("x-", "_"))]
    # Several keys in a style that no known key has are of another program.
    dashed = (
        {key for key in unknown if "-" in str(key)} if open_ended and not any("-" in key for key in known) else set()
    )
    for key in unknown:
        place = Place(file=inspection.file.display, path=(*path, key), part="key")
        # Where other programs add keys, only a slip of a known key is meant to be it.
        meant = frozenset() if key in of_others or (key in dashed and len(dashed) > 1) else known
        candidates = slips_of(str(key), meant) if open_ended else meant
        where = f" in `{inspection.dotted(path)}`" if path else ""
        word = word_for(str(key), other_words)
        if word is not None and word not in values and isinstance(values[key], list | Mapping):
            inspection.sink.report(
                rules.UNKNOWN_FIELD,
                f"{inspection.file.dialect.client} does not read `{key}`{where}",
                at=place,
                help=f"did you mean `{word}`?",
                subject=f"{inspection.file.kind}:{key}",
                fix=replaced(place, str(key), word, f"write `{word}`"),
            )
            continue
        inspection.sink.report(
            rules.UNKNOWN_FIELD,
            f"unknown field `{key}`{where}",
            at=place,
            help=slip_of_key(str(key), candidates, present=values),
            severity=Severity.INFO if open_ended and not candidates else None,
            subject=f"{inspection.file.kind}:{key}",
            fix=renamed(place, str(key), meant - {str(other) for other in values}),
        )
