"""`octoc rules`: every rule, with its default severity."""

from __future__ import annotations

import click

from octoc.cli.options import form_named, format_options


@click.command
@click.option(
    "--kind", metavar="KIND", help="Only rules about files of this kind, such as `mcp` or `mcp:cursor` (as for check)."
)
@format_options("table", "json")
def command(kind: str | None, output_format: str) -> int:
    """List every rule, those of installed plugins last.

    `octoc explain RULE` prints a rule's page, `[lint]` in octoc.toml changes its severity.
    """
    import json

    from octoc.diagnostics.rules import all_rules
    from octoc.plugin.manager import Plugins
    from octoc.plugin.rules import lint_rules

    rules = [*all_rules().values(), *lint_rules(Plugins(names=None)).rules.values()]
    if kind is not None:
        name = form_named(kind).kind.name
        rules = [rule for rule in rules if rule.is_configurable and name in (rule.kinds or {name})]
    if output_format == "json":
        fields = [
            {
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity.label,
                "configurable": rule.is_configurable,
                "kinds": sorted(rule.kinds),
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
