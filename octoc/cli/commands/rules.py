"""`octoc rules`: every rule, with its default severity."""

from __future__ import annotations

import click

from octoc.cli.options import format_options


@click.command
@format_options("table", "json")
def command(output_format: str) -> int:
    """List every rule, those of installed plugins last.

    `octoc explain RULE` prints a rule's page, `[lint]` in octoc.toml changes its severity.
    """
    import json

    from octoc.diagnostics.rules import all_rules
    from octoc.plugin.manager import Plugins
    from octoc.plugin.rules import lint_rules

    rules = [*all_rules().values(), *lint_rules(Plugins(names=None)).rules.values()]
    if output_format == "json":
        fields = [
            {
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity.label,
                "configurable": rule.is_configurable,
                "since": rule.since,
                "summary": rule.summary,
            }
            for rule in rules
        ]
        click.echo(json.dumps(fields, indent=2))
        return 0
    from octoc.cli.tables import print_table

    print_table(
        f"{len(rules)} rules",
        ("code", "name", "severity", "since", "summary"),
        [(rule.code, rule.name, rule.severity.label, rule.since, rule.summary) for rule in rules],
    )
    return 0
