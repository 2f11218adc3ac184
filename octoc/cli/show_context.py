"""`octoc show --context`: the context of an agent's model before the first message, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from octoc.cli.workspace import BundleTarget
    from octoc.runtime import Session
    from octoc.runtime.inspection import Inspection, Section


def show_context(target: BundleTarget, agent: str, output_format: str) -> int:
    """Print what one agent begins with; returns the exit status."""
    import attrs

    from octoc.cli.workspace import with_session

    def look(session: Session) -> Inspection:
        return session.inspect()

    found = with_session(target, agent, look)
    if output_format == "json":
        import json

        sections = [{**attrs.asdict(one), "tokens": one.tokens} for one in found.sections]
        click.echo(json.dumps({**attrs.asdict(found), "sections": sections}, indent=2))
        return 0
    click.echo(f"{found.agent}: {found.tokens:,} tokens at the start (counter: {found.counter}, form: {found.format})")
    for section in found.sections:
        click.echo()
        _print(section)
    return 0


def _print(section: Section) -> None:
    from octoc.cli.tables import print_table

    rows = [(part.name, part.tokens, part.capability or "", part.source) for part in section.parts]
    print_table(f"{section.name}: {section.tokens:,} tokens", ("part", "tokens", "capability", "where from"), rows)
