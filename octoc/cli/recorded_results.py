"""Results of `octoc test` beside those that a lock records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.failures import UserError, write_errors

if TYPE_CHECKING:
    from octoc.evaluation import Results
    from octoc.evaluation.report import Report


def report_against(
    lock: Path, results: Results, *, record: bool, is_part: bool, limits: Mapping[str, float] | None = None
) -> Report:
    """Write the results to `lock`, if they are to be recorded, and return the report that compares them with it.

    Raises: UserError for a lock that cannot be written or read.
    """
    from octoc.evaluation.recorded import RecordedError, recorded_text
    from octoc.evaluation.report import report_of

    if record:
        from octoc.whole_files import write_whole

        with write_errors(lock):
            write_whole(lock, recorded_text(results).encode())
        click.echo(f"recorded: {lock.name}", err=True)
    try:
        recorded = lock.read_text(encoding="utf-8") if lock.is_file() else None
        return report_of(results, limits=limits or {}, recorded=recorded, is_part=is_part)
    except (RecordedError, OSError, UnicodeDecodeError) as error:
        raise UserError(f"`{lock.name}` cannot be compared with: {error}", "run `octoc test --record`") from None
