"""Rules on placeholders in prose, in `args` and `url`, and in system prompts."""

from collections.abc import Callable
from typing import Any

import pytest

from octoc.diagnostics.rule import Severity

Files = Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    "system,severity",
    [
        ("Write `{{ENV:KEY}}` there.", Severity.ERROR),
        ("```\nenv = { A = {{INPUT:KEY}} }\n```", Severity.ERROR),
        ("| {{ENV:KEY}} | a key |", Severity.ERROR),
        ("You work for {{INPUT:KEY}}.", Severity.WARNING),
    ],
)
def test_a_placeholder_in_a_prompt(lint_tap: Callable[..., Any], agent: Files, system: str, severity: Severity) -> None:
    """In code or a table it only speaks of a placeholder, and is an error; in plain text it is a warning."""
    linted = lint_tap(agent("office:ada", system=system))
    (found,) = linted.of("OCT411")
    assert found.severity is severity
    assert linted.text_at(found.span) in ("{{ENV:KEY}}", "{{INPUT:KEY}}")


@pytest.mark.parametrize("system", ["{{{{ENV:KEY}}}}", "{{ENV:}}", "${KEY}", "{{platform}}"])
def test_what_octomind_does_not_resolve(lint_tap: Callable[..., Any], agent: Files, system: str) -> None:
    """An escape, an empty key, a shell's form and a free word in braces are text."""
    assert lint_tap(agent("office:ada", system=system)).of("OCT411") == []


def test_placeholders_in_comments(lint_tap: Callable[..., Any], capability: Files) -> None:
    """A comment is reported wherever it stands, at the placeholder; text in a string that looks like one is not."""
    files = capability("mail", ["mail:*"], fields='type = "stdio"\ncommand = "run"\nargs = ["# {{ENV:A}}"]\n')
    (path,) = files
    text = files[path].replace("# Title", "# needs {{ENV:B}}\n# Title") + "# and {{INPUT:C}} too\n"
    linted = lint_tap({path: text})
    assert [linted.text_at(found.span) for found in linted.of("OCT411")] == ["{{ENV:B}}", "{{INPUT:C}}"]


def test_a_variable_that_the_gate_does_not_see(lint_tap: Callable[..., Any], capability: Files) -> None:
    """A variable of `args` or `url` is reported unless `env` or `headers` has it too, or it has a default."""
    fields = (
        'type = "stdio"\ncommand = "run"\nargs = ["-k", "{{ENV:A}}/{{ENV:B}}", "${C:-c}"]\nenv = { B = "{{ENV:B}}" }\n'
    )
    url = 'type = "http"\nurl = "https://example.org/{{ENV:D}}"\n'
    linted = lint_tap(capability("mail", ["mail:*"], fields=fields), capability("web", ["web:*"], fields=url))
    found = linted.of("OCT412")
    assert [linted.text_at(one.span) for one in found] == ["{{ENV:A}}", "{{ENV:D}}"]


def test_a_prompt_that_varies(lint_tap: Callable[..., Any], agent: Files) -> None:
    """Each value of the run is reported once for an agent; `welcome` may have it, and an escape is text."""
    system = "In {{CWD}}, at {{DATE}} and {{CWD}}. {{{{README}}}}"
    linted = lint_tap(agent("office:ada", system=system, role='welcome = "{{GIT_STATUS}}"\n'))
    assert [linted.text_at(found.span) for found in linted.of("OCT422")] == ["{{CWD}}", "{{DATE}}"]
    assert "`{{CWD}}`, 2 times" in linted.of("OCT422")[0].message
