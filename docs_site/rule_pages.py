"""A page for each rule at an address that stays: `rules/OCTnnn/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from docs_site.page import Page, plain, table
from octoc.diagnostics.pages import page_of
from octoc.diagnostics.rule import Requirement, Rule, Scope
from octoc.diagnostics.rules import PREFIX, all_rules

GROUPS: Mapping[str, range] = {
    "Files that cannot be read": range(100, 200),
    "Structure of files": range(200, 300),
    "Names and scopes": range(300, 400),
    "Legal, and likely wrong": range(400, 500),
    "Lock and pins": range(500, 600),
    "Bundles": range(600, 700),
    "Plugins": range(700, 740),
    "Names that changed": range(740, 760),
    "Servers": range(760, 800),
    "Bugs in octoc": range(900, 1000),
}
"""What rules are about -> the numbers of their codes."""

_SCOPES = {
    Scope.FILE: "one file",
    Scope.WORKSPACE: "several files of a workspace",
    Scope.BUILD: "a lock, a bundle or a plugin; no workspace may change its severity",
}
_NEEDS = {
    Requirement.GATE: "a build",
    Requirement.ENVIRONMENT: "`--env-file` or `--env`",
    Requirement.LOCK: "an `octoc.lock`",
    Requirement.SNAPSHOTS: "recorded tools",
}
_INTRODUCTION = """# Rules

Every finding of octoc has a rule with a code that is never used for another. A code, or the name, goes into
`# octoc: ignore[NAME]`, into `[lint] rules`, and into `octoc explain`, which prints the rule's page.
"""


def rule_pages() -> Iterator[Page]:
    """Yield the overview of rules, and one page each."""
    yield Page("rules/index.md", _overview())
    for rule in all_rules().values():
        yield Page(f"rules/{rule.code}.md", _with_facts(page_of(rule) or f"# {rule.code} {rule.name}\n", rule))


def rule_navigation() -> list[str | dict[str, list[str]]]:
    """Return the place of each rule's page in the navigation: the overview, then a list for each group."""
    return ["rules/index.md", *({title: [f"rules/{one.code}.md" for one in _rules_of(title)]} for title in GROUPS)]


def _overview() -> str:
    parts = [_INTRODUCTION]
    for title in GROUPS:
        rows = [
            (f"[{rule.code}]({rule.code}.md)", f"`{rule.name}`", rule.severity.label, plain(rule.summary))
            for rule in _rules_of(title)
        ]
        parts += [f"## {title}\n", table(("code", "name", "severity", "finding"), rows)]
    return "\n".join(parts)


def _rules_of(title: str) -> list[Rule]:
    return [rule for rule in all_rules().values() if int(rule.code.removeprefix(PREFIX)) in GROUPS[title]]


def _with_facts(text: str, rule: Rule) -> str:
    """Return a rule's page with what the rule declares of itself below the title."""
    facts = [
        ("severity", rule.severity.label),
        ("depends on", _SCOPES[rule.scope]),
        *((("needs", ", ".join(sorted(_NEEDS[one] for one in rule.needs))),) if rule.needs else ()),
        ("since", rule.since),
    ]
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{'; '.join(f'**{name}**: {value}' for name, value in facts)}.\n{rest}"
