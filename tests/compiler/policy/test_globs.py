"""Globs over paths."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.policy.globs import path_matches


@pytest.mark.parametrize(
    "path,glob,matches",
    [
        ("octoc.toml", "octoc.toml", True),
        ("octoc.toml", "./octoc.toml", True),
        ("octoc.toml", "*.toml", True),
        ("taps/a/x.toml", "*.toml", False),
        ("taps/a/x.toml", "**/*.toml", True),
        ("x.toml", "**/*.toml", True),
        ("taps/a/x.toml", "taps/**", True),
        ("taps/a/x.toml", "taps", False),
        ("taps/a/x.toml", "taps/*", False),
        ("taps/a/x.toml", "taps/?/x.toml", True),
        ("taps/a/b/x.toml", "taps/**/b/*", True),
        ("taps/a/b/x.toml", "**/a/**/x.*", True),
        ("../shared/x.toml", "../shared/**", True),
        ("a.c/x", "a?c/x", True),
        ("abc/x", "a.c/x", False),
    ],
)
def test_a_glob_matches_a_whole_path(path: str, glob: str, matches: bool) -> None:
    """`*` and `?` stay within a name, `**` spans folders, all else stands for itself."""
    assert path_matches(path, glob) is matches


def _as_regex(glob: str) -> str:
    """Return the regular expression of a glob, for a path that ends with a slash."""
    one = {"*": r"[^/]*", "?": r"[^/]"}
    names = glob.split("/")
    return "".join(
        "(?:[^/]*/)*" if name == "**" else "".join(one.get(sign, re.escape(sign)) for sign in name) + "/"
        for name in names
    )


@given(
    st.lists(st.sampled_from(["a", "b", "ab", "a.b", ""]), min_size=1, max_size=5).map("/".join),
    st.lists(st.sampled_from(["a", "b", "*", "?", "**", "a*", "*b", "?b", "a.b"]), min_size=1, max_size=5).map(
        "/".join
    ),
)
def test_a_glob_means_what_the_regular_expression_does(path: str, glob: str) -> None:
    """The matcher agrees with the same glob spelled as a regular expression."""
    assert path_matches(path, glob) is bool(re.fullmatch(_as_regex(glob), f"{path}/"))


def test_many_stars_take_no_exponential_time() -> None:
    """A glob of many stars on a long path that does not match comes to an end."""
    assert not path_matches("a" * 2000 + "b", "*a" * 50 + "c")
    assert not path_matches("/".join("a" * 500), "/".join(["**", "a"] * 50 + ["c"]))
