"""Tables: aligned columns, without boxes, whole when piped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from octoc.plain_text import shortened


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str | int]], *, err: bool = False) -> None:
    """Write a table with a title to stdout, or to stderr with `err`.

    A column whose cells are all numbers is right-aligned, with thousands marked.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from octoc.cli.report import columns_of, is_coloured
    from octoc.diagnostics.render import escape

    found = [tuple(row) for row in rows]
    table = Table(box=None, pad_edge=False, title=None, header_style="bold")
    for place, column in enumerate(columns):
        numeric = bool(found) and all(isinstance(row[place], int) for row in found)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in found:
        table.add_row(*(Text(f"{cell:,}" if isinstance(cell, int) else escape(cell)) for cell in row))
    # When piped nothing may be cut or wrapped, whatever the width of a terminal would be.
    console = Console(width=columns_of(err=err) or 100_000, highlight=False)
    with console.capture() as captured:
        console.print(Text(title, style="bold"))
        console.print(table if found else "none")
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()), err=err, color=is_coloured(err=err))


def one_line(text: str, width: int = 100) -> str:
    """Return the first line of `text` that is not blank, cut to `width` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return shortened(line, width)
