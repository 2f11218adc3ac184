"""Lines of a skill's rules, whatever is written there."""

from hypothesis import given
from hypothesis import strategies as st

from octoc.routing.skill_rules import CHECKS, expression_error, parse_rule

TEXTS = st.text(alphabet=st.sampled_from("match(content)) semantic,[]{}\\*+?|^$ab1_-\n"), max_size=60) | st.text(
    max_size=40
)


@given(TEXTS)
def test_every_character_is_told_for(text: str) -> None:
    """Checks and problems lie in the line, in order, apart, and hold every character but white space."""
    rule = parse_rule(text)
    spans = sorted([*(check.span for check in rule.checks), *(problem.span for problem in rule.problems)])
    end = 0
    for start, stop in spans:
        assert end <= start < stop <= len(text)
        assert not text[end:start].strip()
        end = stop
    assert not text[end:].strip()


@given(TEXTS)
def test_an_argument_is_what_its_range_says(text: str) -> None:
    """A check's argument and expression are the text of their ranges."""
    for check in parse_rule(text).checks:
        assert check.name in CHECKS
        assert text[slice(*check.argument_span)] == check.argument
        if check.expression is not None:
            expression, span = check.expression
            assert text[slice(*span)] == expression


@given(TEXTS)
def test_any_text_as_an_expression(text: str) -> None:
    """RE2 takes an expression or says why not, and never fails otherwise."""
    assert expression_error(text) is None or expression_error(text)


def test_a_long_line_takes_linear_time() -> None:
    """A line of a million characters without a check is read at once."""
    assert [problem.kind for problem in parse_rule("a" * 1_000_000).problems] == ["stray"]
    assert [problem.kind for problem in parse_rule("match(" + "(" * 1_000_000).problems] == ["unclosed"]
