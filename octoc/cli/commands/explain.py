"""`octoc explain OCTnnn`: a rule's page."""

from __future__ import annotations

import click

from octoc.cli.options import format_options


@click.command
@click.argument("rule")
@format_options("text", "json")
def command(rule: str, output_format: str) -> int:
    """Print the page of RULE.

    The page says what the rule does and why it matters, with a bad and a good example.

    RULE is a code such as OCT301, or a name such as unknown-server. The rules of installed plugins have pages too.
    """
    import json

    from octoc.cli.failures import UserError
    from octoc.diagnostics.pages import page_of, url_of
    from octoc.diagnostics.rules import PREFIX, all_rules, near_codes, rule_named
    from octoc.diagnostics.suggest import did_you_mean
    from octoc.plugin.manager import Plugins
    from octoc.plugin.rules import lint_rules

    wanted = rule.strip()
    found = rule_named(wanted) or rule_named(f"{PREFIX}{wanted}") or lint_rules(Plugins(names=None)).named(wanted)
    if found is None:
        rules = all_rules()
        digits = wanted.upper().removeprefix(PREFIX)
        if digits.isdecimal() and len(digits) <= 3:
            near = f"similar codes: {', '.join(near_codes(digits))}"
        else:
            near = did_you_mean(wanted, [one.name for one in rules.values()]) or (
                f"codes go from {min(rules)} to {max(rules)}"
            )
        raise UserError(f"unknown rule `{rule}`", near)
    page = page_of(found) or f"# {found.code} {found.name}\n\n{found.summary}\n"
    url = url_of(found)
    if output_format == "json":
        fields = {"code": found.code, "name": found.name, "severity": found.severity.label, "since": found.since}
        click.echo(json.dumps({**fields, "summary": found.summary, "url": url, "page": page}, indent=2))
    else:
        click.echo(page if url is None else f"{page}\nThis page online: {url}\n", nl=False)
    return 0
