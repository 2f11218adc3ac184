"""`octoc find "query"`: what `find_tools` would answer an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from octoc.cli.options import agent_option, bundle_option, format_options, workspace_option

if TYPE_CHECKING:
    from octoc.runtime.session import Session


@click.command
@click.argument("query")
@workspace_option
@bundle_option
@agent_option
@click.option("--limit", type=click.IntRange(min=1), default=15, show_default=True, help="How many tools at most.")
@format_options("text", "json")
def command(query: str, workspace: Path | None, bundle: Path | None, agent: str, limit: int, output_format: str) -> int:
    """Search an agent's tools for QUERY.

    They are ranked as find_tools ranks them. Nothing is connected to.
    """
    from octoc.cli.workspace import target_of, with_session

    def search(session: Session) -> tuple[list[dict[str, Any]], int]:
        tools = {(tool.server, tool.name): tool for tool in session.runtime.bundle.tools}
        hits = []
        for hit in session.search(query, limit=limit):
            server, _, name = hit.tool.partition("/")
            tool = tools.get((server, name))
            description = tool.description if tool is not None else ""
            hits.append({"name": hit.tool, "score": hit.score, "alias": hit.alias, "description": description})
        return hits, sum(
            not server.listed for server in session.runtime.bundle.servers if server.transport != "builtin"
        )

    hits, unlisted = with_session(target_of(bundle, workspace), agent, search)
    if output_format == "json":
        import json

        click.echo(json.dumps(hits, indent=2))
    else:
        from octoc.cli.tables import one_line, print_table

        rows = [(f"{hit['score']:.2f}", hit["name"], one_line(hit["description"])) for hit in hits]
        print_table("tools", ("score", "tool", "description"), rows)
    if unlisted:
        servers = "1 server is unlisted" if unlisted == 1 else f"{unlisted} servers are unlisted"
        click.echo(f"{servers}, so their tools are not searched: octoc pin", err=True)
    return 0
