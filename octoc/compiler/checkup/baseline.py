"""The findings that a repository has accepted: `octoc check --baseline` reports only what is new.

    {
     "octoc_baseline": 1,
     "octoc": "0.1.0",
     "findings": [
      {"file": ".mcp.json", "code": "OCT401", "count": 1, "message": "…"}
     ]
    }

A finding is known by its file, rule and message, so that it may move within its file. Paths count from the folder of
the baseline.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs

from octoc import __version__
from octoc.diagnostics.model import Diagnostic
from octoc.whole_files import write_whole

_FORMAT = 1

Key = tuple[str, str, str]
"""File, code and message."""


class BaselineError(Exception):
    """A baseline cannot be read."""


@attrs.frozen(kw_only=True)
class BaselineComparison:
    """Findings compared with a baseline.

    Args:
        new: those that the baseline does not have.
        accepted: how many it has.
        gone: how many of its findings are no longer found, in the files that were read.
    """

    new: tuple[Diagnostic, ...]
    accepted: int
    gone: int


def read_baseline(path: Path) -> Counter[Key]:
    """Return how often each finding is accepted. Raises: BaselineError, OSError."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"not JSON: {error}") from error
    if not isinstance(values, dict) or "octoc_baseline" not in values:
        raise BaselineError("it has no `octoc_baseline`")
    if values["octoc_baseline"] != _FORMAT:
        raise BaselineError(f"its format is {values['octoc_baseline']!r}, and this octoc reads {_FORMAT}")
    findings = values.get("findings")
    if not isinstance(findings, list):
        raise BaselineError("`findings` is not a list")
    accepted: Counter[Key] = Counter()
    for index, entry in enumerate(findings):
        key, count = _entry(entry)
        if key is None:
            raise BaselineError(f"`findings[{index}]` is not an object with `file`, `code`, `count` and `message`")
        accepted[key] += count
    return accepted


def _entry(entry: Any) -> tuple[Key | None, int]:
    if not isinstance(entry, dict):
        return None, 0
    key = tuple(entry.get(name) for name in ("file", "code", "message"))
    count = entry.get("count")
    if not all(isinstance(part, str) for part in key) or type(count) is not int or count < 1:
        return None, 0
    return key, count  # type: ignore[return-value]  # three strings


def write_baseline(path: Path, found: Iterable[Diagnostic], base: Path) -> None:
    """Write `found`, whose paths count from `base`, as what is accepted from now on. Raises: OSError."""
    counts = sorted(Counter(_key(diagnostic, base, path.parent) for diagnostic in found).items())
    # A finding in a line: a change of the baseline is then a diff that people can review.
    rows = [
        json.dumps({"file": file, "code": code, "count": count, "message": message}, ensure_ascii=False)
        for (file, code, message), count in counts
    ]
    findings = ",".join(f"\n  {row}" for row in rows) + ("\n " if rows else "")
    text = f'{{\n "octoc_baseline": {_FORMAT},\n "octoc": "{__version__}",\n "findings": [{findings}]\n}}\n'
    write_whole(path, text.encode("utf-8", "backslashreplace"))


def compare(
    found: Sequence[Diagnostic], accepted: Counter[Key], *, base: Path, folder: Path, read: frozenset[Path]
) -> BaselineComparison:
    """Return which of `found` are new, in their order.

    Args:
        base: the folder that the paths of `found` count from.
        folder: the one that the paths of the baseline count from.
        read: the files that were looked at, absolute: a finding in another file, unless it was deleted, is not gone.
    """
    left = Counter(accepted)
    new = []
    for diagnostic in found:
        key = _key(diagnostic, base, folder)
        if left[key] > 0:
            left[key] -= 1
        else:
            new.append(diagnostic)
    gone = 0
    for (file, _, _), count in left.items():
        path = Path(os.path.normpath(folder / file))
        if count > 0 and (path in read or not path.exists()):
            gone += count
    return BaselineComparison(new=tuple(new), accepted=len(found) - len(new), gone=gone)


def _key(diagnostic: Diagnostic, base: Path, folder: Path) -> Key:
    file = diagnostic.span.file if diagnostic.span is not None else ""
    relative = Path(os.path.relpath(base / file, folder)).as_posix() if file else ""
    return relative, diagnostic.rule.code, diagnostic.message
