"""`octoc explain OCTnnn`: a rule's page."""

from __future__ import annotations

from collections.abc import Iterable

import click

from octoc.cli.options import format_options


@click.command
@click.argument("rule")
@format_options("text", "json")
def command(rule: str, output_format: str) -> int:
    """Print the page of RULE.

    It says what the rule does, why it matters, and has a bad and a good example.

    RULE is a code as OCT301, or a name as unknown-server.
    """
    import json

    from octoc.cli.failures import UserError
    from octoc.diagnostics.pages import page_of
    from octoc.diagnostics.rules import all_rules
    from octoc.diagnostics.suggest import did_you_mean

    rules = all_rules()
    wanted = rule.strip().lower()
    named = {name.lower(): code for code in rules for name in (code, code.removeprefix("OCT"), rules[code].name)}
    code = named.get(wanted)
    if code is None:
        digits = wanted.removeprefix("oct")
        if digits.isdecimal() and len(digits) <= 3:
            near = f"near codes are {', '.join(_near_codes(digits, rules))}"
        else:
            near = did_you_mean(rule.strip(), [found.name for found in rules.values()]) or (
                f"codes go from {min(rules)} to {max(rules)}"
            )
        raise UserError(f"there is no rule `{rule}`", near)
    found = rules[code]
    page = page_of(code) or f"# {code} {found.name}\n\n{found.summary}\n"
    if output_format == "json":
        fields = {"code": code, "name": found.name, "severity": found.severity.label}
        click.echo(json.dumps({**fields, "since": found.since, "summary": found.summary, "page": page}, indent=2))
    else:
        click.echo(page, nl=False)
    return 0


def _near_codes(digits: str, codes: Iterable[str]) -> list[str]:
    """Return the three codes nearest by number, ascending; a code cut short counts as the first that it begins."""
    number = int(digits.ljust(3, "0"))
    return sorted(sorted(codes, key=lambda code: (abs(int(code[3:]) - number), code))[:3])
