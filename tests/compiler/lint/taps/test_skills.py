"""Rules on skills: activation rules, what they ask for, folders."""

from collections.abc import Callable
from typing import Any

import pytest

from octoc.diagnostics.rule import Severity
from octoc.routing.skill_rules import expression_error, parse_rule

Files = Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    "rule,code,marked",
    [
        ("contents(a) session(b)", "OCT413", "contents"),
        ("content(a) and session(b)", "OCT413", "and"),
        ("content(a) session(b", "OCT415", "session(b"),
        (r"match(a\()", "OCT415", r"match(a\()"),
        ("match((?=a)b)", "OCT414", "(?=a)b"),
        ("grep(a**, *.py)", "OCT414", "a**"),
    ],
)
def test_what_of_a_rule_does_nothing(
    lint_tap: Callable[..., Any], skill: Files, rule: str, code: str, marked: str
) -> None:
    """Each mistake in a line is reported at the part that is wrong, as an error."""
    linted = lint_tap(skill("minutes", "domains: office", rules=[rule]))
    (found,) = linted.of("OCT413", "OCT414", "OCT415")
    assert (found.rule.code, linted.text_at(found.span)) == (code, marked)
    assert found.severity is Severity.ERROR


def test_a_near_check_is_renamed(lint_tap: Callable[..., Any], skill: Files) -> None:
    """A check whose name is near exactly one known name gets a fix."""
    linted = lint_tap(skill("minutes", "domains: office", rules=["contnet(minutes) session(x)"]))
    assert "  - content(minutes) session(x)\n" in linted.fixed(linted.of("OCT413")[0])


def test_rules_that_are_sound(lint_tap: Callable[..., Any], skill: Files) -> None:
    """Every check with its arguments, nested parentheses and a glob are read without a finding."""
    rules = [
        r"match((?i)\b(minutes|notes)\b) content(a, b)", "semantic(write minutes, 0.5)", "session(x) file(*.md)",
        r"grep(\[\[steps\]\], *.toml)", "env(A=b) bin(git) workdir(x)", r"match(\S+\D{1,2}\p{Lu})",
    ]  # fmt: skip
    linted = lint_tap(skill("minutes", "domains: office", rules=rules))
    assert linted.of("OCT413", "OCT414", "OCT415", "OCT426") == []


def test_capitals_in_match(lint_tap: Callable[..., Any], skill: Files) -> None:
    """Capitals matter only in `match`, and not after `(?i)`."""
    rules = ["match(RSA)", "match((?i)RSA)", "content(RSA)"]
    linted = lint_tap(skill("minutes", "domains: office", rules=rules))
    assert [linted.text_at(found.span) for found in linted.of("OCT426")] == ["RSA"]


def test_a_skill_that_nothing_activates(lint_tap: Callable[..., Any], skill: Files) -> None:
    """A skill needs rules and domains to activate, and the finding names the missing ones."""
    linted = lint_tap(skill("a", rules=[]), skill("b"), skill("c", "domains: x", rules=[]), skill("d", "domains: x"))
    messages = [found.message for found in linted.of("OCT427")]
    assert [message.partition(" has ")[2].partition(":")[0] for message in messages] == [
        "no `rules` and no `domains`", "no `domains`", "no `rules`",
    ]  # fmt: skip


def test_capabilities_that_a_skill_cannot_load(lint_tap: Callable[..., Any], skill: Files, capability: Files) -> None:
    """One with only dependencies and one without triggers are reported at the name; an unknown one is not again."""
    linted = lint_tap(
        capability("tools", server=None, deps=["acme/x"]),
        capability("mail", ["mail:*"]),
        capability("web", ["web:*"], triggers=["search the web"]),
        skill("minutes", "domains: office", "capabilities: [tools, mail, web, nowhere]"),
        {"deps/acme/x.sh": "exit 0\n"},
    )
    found = linted.of("OCT420", "OCT434", "OCT304")
    assert [(one.rule.code, linted.text_at(one.span)) for one in found] == [
        ("OCT420", "tools"), ("OCT434", "mail"), ("OCT304", "nowhere"),
    ]  # fmt: skip


def test_folders_that_are_not_listed(lint_tap: Callable[..., Any], skill: Files) -> None:
    """A folder near a listed one is a warning, another an information; listed and internal ones are fine."""
    folders = ("reference", "tests", "scripts", "__pycache__", ".git")
    linted = lint_tap(skill("minutes", "domains: office"), {f"skills/minutes/{name}/a.md": "a\n" for name in folders})
    found = [(one.span.file.rpartition("/")[2], one.severity) for one in linted.of("OCT421")]
    assert found == [("reference", Severity.WARNING), ("tests", Severity.INFO)]


def test_a_line_of_checks() -> None:
    """Checks come with their arguments, ranges, expressions, globs and thresholds."""
    text = r"grep(a{1,2}b) grep( x\d, *.py ) semantic(write it, 0.6) semantic(a, b)"
    first, second, third, fourth = parse_rule(text).checks
    assert first.expression == ("a{1,2}b", (5, 12))
    assert second.expression is not None
    assert second.glob == "*.py"
    assert second.expression[0] == r"x\d" == text[slice(*second.expression[1])]
    assert (third.threshold, fourth.threshold, first.threshold) == (0.6, 0.45, None)


def test_look_around_is_refused() -> None:
    """RE2 says why it refuses an expression, and takes what it knows."""
    assert expression_error(r"\b(a|b)+\b") is None
    assert "(?<" in (expression_error("(?<=a)b") or "")
    assert expression_error("(a") is not None
