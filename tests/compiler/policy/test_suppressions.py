"""Suppressions in comments: which comments are ones, and which findings they suppression."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.policy.comments import commented
from octoc.compiler.policy.suppressions import Suppression, Suppressions
from octoc.diagnostics.model import Diagnostic, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import rule_named

MARK = "octoc: ignore[no-triggers]"


def suppressed(text: str, file: str, line: int, end_line: int = 0, name: str = "no-triggers") -> bool:
    """Tell whether a finding of the rule at these lines of `text` is suppressed; line 0 is the file as a whole."""
    rule = rule_named(name)
    assert rule is not None
    span = Span(file=file, line=line, column=1, end_line=end_line or line, end_column=2) if line else Span(file=file)
    found = Diagnostic(rule=rule, message="m", severity=Severity.ERROR, span=span)
    return Suppressions(read_text=lambda _: text).of(file).suppress(found)


def suppression_in(text: str) -> Suppression:
    """The only suppression of a TOML file."""
    (suppression,) = Suppressions(read_text=lambda _: text).of("a.toml").suppressions
    return suppression


@pytest.mark.parametrize(
    "file,text,lines",
    [
        ("a.toml", f"a = 1 # {MARK}\nb = 2\n", {1}),
        ("a.toml", f"a = 1 # why # {MARK} because\nb = 2\n", {1}),
        ("a.toml", f"# {MARK}\na = 1\nb = 2\n", {1, 2}),
        ("a.toml", f"#{MARK}\na = 1\n", {1, 2}),
        ("a.toml", f"# {MARK}\n  # octoc: ignore[OCT402]\na = 1\nb = 2\n", {1, 3}),
        ("a.toml", f"# {MARK}\n\na = 1\n", {1, 2}),
        ("a.toml", "# octoc: ignore[OCT402, OCT401]\na = 1\nb = 2\n", {1, 2}),
        ("a.toml", "# octoc:ignore[oct401]\na = 1\nb = 2\n", {1, 2}),
        ("a.toml", "a = [ # octoc: ignore[OCT401]\n  1,\n]\n", {1}),
        ("a.toml", f"# octoc: ignore-file[no-triggers]\n# more\na = 1\nb = 2\n# {MARK}\n", {0, 1, 2, 3, 4, 5}),
        ("a.toml", "a = 1\n# octoc: ignore-file[no-triggers]\nb = 2\n", set()),
        ("a.toml", "# octoc: ignore\na = 1\n", set()),
        ("a.toml", "# octoc: ignore[]\na = 1\n", set()),
        ("a.toml", "# octoc: ignored[no-triggers]\na = 1\n", set()),
        ("a.toml", "# Write octoc: ignore[no-triggers] to suppression it\na = 1\n", set()),
        ("a.toml", f'a = "# {MARK}"\n', set()),
        ("a.toml", f"a = '# {MARK}'\n", set()),
        ("a.toml", f'a = """\n# {MARK}\nx"""\nb = 1\n', set()),
        ("a.toml", f"a = '''\n# {MARK}\nx\"\"\" '''\nb = 1\n", set()),
        ("a.toml", f'a = """\nx""" # {MARK}\nb = 1\n', {1, 2}),
        ("a.toml", f'# {MARK}\na = """\nx\ny"""\nb = 1\n', {1, 2, 3, 4}),
        ("a.toml", f'a = """x\\""" # {MARK}\n"""\nb = 1\n', set()),
        ("a.json", '{\n"a": 1, // octoc: ignore[OCT401]\n"b": 2}\n', {2}),
        ("a.json", '// octoc: ignore-file[OCT401]\n{\n"a": 1}\n', {0, 1, 2, 3, 4, 5}),
        ("a.json", '{"a": "// octoc: ignore[OCT401]"}\n', set()),
        ("a.json", '{"a": "\\"// octoc: ignore[OCT401]"}\n', set()),
        ("a.json", f'{{"a": 1}} # {MARK}\n', set()),
        ("A.md", f"---\nname: a # {MARK}\nb: 2\n---\nbody\n", {2}),
        ("A.md", "---\n# octoc: ignore-file[OCT401]\nname: a\n---\nbody\n", {0, 1, 2, 3, 4, 5}),
        ("A.md", f"---\nname: a\n---\n# {MARK}\n", set()),
        ("A.md", f"---\nname: 'a # {MARK}'\n---\n", set()),
        ("A.md", f"---\nname: a#{MARK}\n---\n", set()),
        ("A.md", f"---\ndescription: |\n  text\n  # {MARK}\n  more\nb: 1\n---\n", set()),
        ("A.md", f"---\ndescription: | # {MARK}\n  text\nb: 1\n---\n", {2, 3}),
        ("A.md", f"---\ndescription: |\n  text\n# {MARK}\nb: 1\n---\n", {4, 5}),
        ("A.md", f"---\ntools: [a, # {MARK}\n  b]\n---\n", {2}),
        ("a.txt", f"# {MARK}\n", set()),
    ],
)
def test_a_suppression_covers_its_lines(file: str, text: str, lines: set[int]) -> None:
    """A comment suppresses its line, the next line when alone, or the file; text in a string is not a comment."""
    assert {line for line in range(6) if suppressed(text, file, line)} == lines


def test_a_value_of_many_lines_is_suppressed_after_its_end() -> None:
    """A finding that spans several lines is also suppressed at the end of the last."""
    text = "args = [\n  'x',\n] # octoc: ignore[no-triggers]\n"
    assert suppressed(text, "a.toml", 1, 3)
    assert not suppressed(text, "a.toml", 2)


def test_only_the_named_rules_are_suppressed() -> None:
    """A finding of a rule that is not named stays."""
    assert not suppressed(f"a = 1 # {MARK}\n", "a.toml", 1, name="unpinned-package")


def test_rules_stand_where_they_are_written() -> None:
    """A suppression knows its own place and that of each rule, in code points, and which of them exist."""
    suppression = suppression_in('a = "ä" # octoc: ignore[OCT402, nope] why\n')
    assert (suppression.span.column, suppression.span.end_column) == (18, 38)
    named = [(one.text, one.span.column, one.span.end_column, one.rule is not None) for one in suppression.named]
    assert named == [("OCT402", 25, 31, True), ("nope", 33, 37, False)]


@pytest.mark.parametrize("name", ["OCT601", "lock-missing", "internal-error"])
def test_what_is_about_the_build_cannot_be_suppressed(name: str) -> None:
    """A comment cannot suppress a rule of 5xx or above."""
    suppression = suppression_in(f"# octoc: ignore[{name}]\n")
    assert [one.rule for one in suppression.named] == [None]


@given(
    st.sampled_from(["toml", "json", "md"]),
    st.lists(
        st.sampled_from(['"', "'", '"""', "'''", "\\", "#", "//", "/*", "*/", "\n", "a", " ", "---\n", "|", ":", "ä"])
    ).map("".join),
)
def test_any_text_has_comments(kind: str, text: str) -> None:
    """Whatever a text is, its comments are in order, on one line each, and begin with a mark."""
    found = commented(text, kind)
    assert list(found.comments) == sorted(found.comments)
    for start, end in found.comments:
        assert "\n" not in text[start:end]
        assert text[start:end].startswith("//" if kind == "json" else "#")
    assert 0 <= found.head <= len(text)


@pytest.mark.parametrize("part", ['"', "'", '"""a', "'''a", "\\", '"\\', "/*", "#", "/* *"])
def test_a_long_text_is_read_in_steps_that_grow_with_it(part: str) -> None:
    """Ten thousand repetitions of what may open a string or a comment come to an end."""
    for kind in ("toml", "json"):
        assert commented(part * 10_000, kind).head <= len(part) * 10_000
