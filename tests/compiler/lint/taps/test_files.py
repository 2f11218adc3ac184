"""Rules on manifests, dependency scripts and headers."""

from collections.abc import Callable
from typing import Any

Files = Callable[..., dict[str, str]]


def test_a_capability_of_another_domain(lint_tap: Callable[..., Any], capability: Files, agent: Files) -> None:
    """The agent's reference is marked, and the domains beside it; a universal capability suits everyone."""
    linted = lint_tap(
        capability("mail", ["mail:*"], triggers=["send this by mail"], domains=["sales"]),
        capability("web", ["web:*"], triggers=["search the web"]),
        agent("office:ada", "web", "mail"),
        agent("sales:bob", "mail"),
    )
    (found,) = linted.of("OCT419")
    assert (found.span.file, linted.text_at(found.span)) == ("taps/acme/agents/office/ada.toml", '"mail"')
    assert [linted.text_at(label.span) for label in found.related] == ['["sales"]']


def test_what_a_manifest_says_itself(lint_tap: Callable[..., Any], capability: Files, agent: Files) -> None:
    """A role's other name and wiring of its own beside capabilities are reported; its right name is not."""
    linted = lint_tap(
        capability("mail", ["mail:*"]),
        {"deps/acme/x.sh": "exit 0\n"},
        agent("office:ada", "mail", role='name = "bob"\n', more='[deps]\nrequire = ["acme/x"]\n'),
        agent("office:cy", "mail", role='name = "office:cy"\n'),
        agent("office:dan", more='[deps]\nrequire = ["acme/x"]\n'),
    )
    assert [linted.text_at(found.span) for found in linted.of("OCT432")] == ['"bob"']
    assert [found.message for found in linted.of("OCT433")] == [
        "agent `office:ada` has `deps.require` beside `capabilities`"
    ]


def test_scripts_of_dependencies(lint_tap: Callable[..., Any], capability: Files) -> None:
    """A script that is missing is marked where it is required, and unused ones are counted once for the tap."""
    linted = lint_tap(
        capability("mail", server=None, deps=["acme/mail", "acme/mial"]),
        {f"deps/acme/{name}.sh": "exit 0\n" for name in ("mail", "b", "c")},
        {"deps/lib/platform.sh": "exit 0\n"},
    )
    (missing,) = linted.of("OCT431")
    assert (linted.text_at(missing.span), missing.help) == (
        '"acme/mial"',
        "did you mean `acme/mail`, `acme/b` or `acme/c`?",
    )
    (unused,) = linted.of("OCT429")
    assert unused.message == "nothing in tap `acme` requires 2 scripts of `deps/`: `acme/b`, `acme/c`"
    assert unused.span.file == "taps/acme/deps"


def test_titles_and_descriptions(lint_tap: Callable[..., Any], capability: Files, agent: Files) -> None:
    """A short value is marked, a missing one is reported at the top of the file."""
    linted = lint_tap(
        capability("mail", ["mail:*"], head="# Title: Mails\n# Description: Short\n"),
        agent("office:ada", "mail", head="# Title: An agent\n"),
    )
    short, *_ = found = linted.of("OCT430")
    assert [one.message.partition(",")[0] for one in found] == [
        "agent `office:ada` has no `# Description:`",
        "the `# Description:` of provider `default` of capability `mail` has 5 characters",
    ]
    assert short.span.line == 1
    assert linted.text_at(found[1].span) == "Short"


def test_a_note_on_tools(lint_tap: Callable[..., Any], capability: Files) -> None:
    """Names before the dash that no pattern lets through are reported; prefixes, notes and prose are not."""
    head = "# Title: A capability\n# Description: Does what a test asks for\n# Provides tools: {}\n"
    notes = {"a": "find, send — and more", "b": "find_*, etc.", "c": "(none: by the shell)", "d": "find (2 ways)"}
    linted = lint_tap(*(capability(name, [f"{name}:find*"], head=head.format(note)) for name, note in notes.items()))
    (found,) = linted.of("OCT428")
    assert linted.text_at(found.span) == "find, send — and more"
    assert "names `send`, which" in found.message
