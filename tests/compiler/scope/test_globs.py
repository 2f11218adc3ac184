"""Sets of globs: what an index of them answers is what looking at each pair would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.resolve.spelling import meet
from octoc.compiler.scope.globs import Globs, common, disjoint, meets, uncovered
from octoc.names import glob_covers, glob_matches, globs_meet

# Few letters and `*` anywhere, so that prefixes, equal ones and stars in the middle are often met.
globs = st.text("ab*", max_size=5)
pairs = st.tuples(st.sampled_from(("one", "two")), globs)
sets = st.frozensets(pairs, max_size=12)


@given(sets, sets)
def test_what_is_common_is_what_pairs_have_in_common(ones: Globs, others: Globs) -> None:
    """Each pair of one server's globs has in common what `meet` says, whichever side is larger."""
    met = ((server, meet(glob, other)) for server, glob in ones for of, other in others if of == server)
    assert common(ones, others) == common(others, ones) == {(server, glob) for server, glob in met if glob is not None}


@given(sets, sets)
def test_what_is_uncovered_or_disjoint_is_so_of_every_glob(ones: Globs, others: Globs) -> None:
    """A glob stays where no single one of the other set covers it, and where none meets it."""
    assert uncovered(ones, others) == {
        (server, glob)
        for server, glob in ones
        if not any(s == server and glob_covers(other, glob) for s, other in others)
    }
    apart = {
        (server, glob) for server, glob in ones if all(s != server or meet(glob, other) is None for s, other in others)
    }
    assert disjoint(ones, others) == apart
    assert {one for one in ones if not meets(*one, others)} == apart


@given(globs, globs)
def test_the_runtime_tells_what_meets_as_the_compiler_does(one: str, other: str) -> None:
    """`globs_meet` is whether `meet` finds anything."""
    assert globs_meet(one, other) == (meet(one, other) is not None)


@given(sets, sets, st.text("ab*", max_size=7))
def test_a_name_is_common_when_both_sets_match_it(ones: Globs, others: Globs, name: str) -> None:
    """The globs in common match exactly the names that a glob of each set matches."""

    def matched(by: Globs) -> bool:
        return any(server == "one" and glob_matches(glob, name) for server, glob in by)

    assert matched(common(ones, others)) == (matched(ones) and matched(others))
