"""`octoc show --cache`: how much of each agent's tool block stays unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from octoc.cli.workspace import BundleTarget
    from octoc.runtime import Runtime
    from octoc.runtime.catalog.cache_report import Activation, CacheReport


def show_cache(target: BundleTarget, agent: str | None, output_format: str) -> int:
    """Print the report of one agent, or of all; returns the exit status."""
    import attrs

    from octoc.cli.workspace import with_runtime

    async def work(runtime: Runtime) -> list[tuple[str, CacheReport]]:
        names = [agent] if agent is not None else [entry.name for entry in runtime.bundle.agents]
        return [(name, runtime.owners_session(name).cache_report()) for name in names]

    reports = with_runtime(target, work)
    if output_format == "json":
        import json

        agents: list[dict[str, Any]] = [{"name": name, **attrs.asdict(report)} for name, report in reports]
        click.echo(json.dumps({"agents": agents}, indent=2))
        return 0
    for place, (name, report) in enumerate(reports):
        if place:
            click.echo()
        _print(name, report)
    return 0


def _print(agent: str, report: CacheReport) -> None:
    from octoc.cli.tables import print_table

    stable = report.stable
    click.echo(
        f"{agent}: the first {stable.tools} tools, {stable.tokens} tokens, {stable.bytes} bytes, stay in every request "
        f"(counter: {report.counter})"
    )
    click.echo(f"block at the start: sha256 {report.digest}")
    if report.activations:
        columns = ("activating", "appends tools", "tokens", "bytes", "")
        print_table("what each activation appends", columns, [_row(activation) for activation in report.activations])
        click.echo("An eviction changes the block from the first removed tool on; the tools before it stay unchanged.")


def _row(activation: Activation) -> tuple[str | int, ...]:
    notes = []
    if activation.unknown:
        notes.append(f"and the tools of {', '.join(activation.unknown)}, which are unknown until it is connected")
    if activation.evicts is None:
        notes.append("refused: over the limits")
    size = activation.appends
    return (activation.capability, size.tools, size.tokens, size.bytes, "; ".join(notes))
