"""What the pages are made of: text that stays text, sessions that end, readable colours, files that are installed."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from jinja2 import UndefinedError

import octoc_dashboard
from octoc_dashboard.login_sessions import LIMIT, SESSION_S, LoginSessions
from octoc_dashboard.templates import environment

FOLDER = Path(octoc_dashboard.__file__).parent
BARS, GROUNDS = ("bar", "accent", "threshold"), ("line", "raised", "paper")


def render(template: str, **values: object) -> str:
    """Return a template filled in as the pages are."""
    return environment().from_string(template).render(values)


def test_a_login_session_ends_by_itself() -> None:
    """After its time, and when there are too many: then the oldest."""
    now = 0.0
    sessions = LoginSessions(clock=lambda: now)
    first = sessions.begin("one")
    assert sessions.token(first) == "one"
    assert "one" not in repr(sessions.__dict__)
    names = [sessions.begin("more") for _ in range(LIMIT)]
    assert sessions.token(first) is None
    assert sessions.token(names[-1]) == "more"
    now = SESSION_S
    assert sessions.token(names[-1]) is None


@pytest.mark.parametrize("text", ["<&>\"'", "&amp;", "</title>", "a\tb\nc", "日本語 🙂", "{{ 1 }}"])
def test_text_stays_text(text: str) -> None:
    """What a browser reads in an element or an attribute is the text that was put there."""
    page = render('<p title="{{ text }}" lang="{{ text|verbatim }}">{{ text }}</p>', text=text)
    assert [html.unescape(one) for one in re.findall(r'(?:title|lang)="([^"]*)"', page)] == [text, text]
    assert html.unescape(re.findall(r"<p [^>]*>([^<]*)</p>", page)[0]) == text


def test_invisible_characters_are_shown() -> None:
    """Invisible characters, and those that reverse a line, are written out; a field keeps them to send back."""
    text = "a\x1b\u202e\u200b\x00\ud800<"
    assert render("{{ text }}", text=text) == r"a\u{1B}\u{202E}\u{200B}\u{0}\u{D800}&lt;"
    coded = '{% from "macros.html" import code_spans %}{{ code_spans(text) }}'
    assert render(coded, text="a `\u202e<` b") == r"a <code>\u{202E}&lt;</code> b"
    assert render("{{ text|verbatim }}", text="a\u202e<\ud800") == "a\u202e&lt;?"


def test_a_template_with_a_misspelled_value_fails() -> None:
    """A name that the page does not give is an error, not an empty text."""
    with pytest.raises(UndefinedError):
        render("{{ descripton }}", description="text")


def test_the_wheel_has_templates_style_and_icon() -> None:
    """What the pages read beside their code is installed with it."""
    files = {one.distribution_path for one in WheelBuilder(str(FOLDER.parent)).recurse_included_files()}
    beside = [one for one in FOLDER.rglob("*") if one.suffix in {".html", ".css", ".svg"}]
    assert len(beside) > 5
    assert {str(one.relative_to(FOLDER.parent)) for one in beside} <= files


def _colours(scheme: str) -> Iterator[tuple[str, tuple[float, float, float]]]:
    for name, value in re.findall(r"--([a-z-]+): #([0-9a-f]{6});", scheme):
        red, green, blue = (int(value[place : place + 2], 16) / 255 for place in (0, 2, 4))
        yield name, (red, green, blue)


def _luminance(colour: tuple[float, float, float]) -> float:
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_both_schemes_have_contrast() -> None:
    """Text has 4.5:1 on each ground that it stands on; bars, the threshold and the edges of fields have 3:1."""
    style = (FOLDER / "static" / "page.css").read_text(encoding="utf-8")
    light = dict(_colours(style[style.index(":root") : style.index("@media")]))
    dark = dict(_colours(style[style.index("prefers-color-scheme: dark") : style.index("*, *::before")]))
    assert light.keys() == dark.keys()
    for scheme in (light, dark):
        pairs = [
            (one, ground, 4.5)
            for one in ("ink", "soft", "accent", "bad", "good", "threshold")
            for ground in ("paper", "raised")
        ]
        # Bars differ from their track and from the page, and the threshold from everything under it.
        pairs += [(one, ground, 3.0) for one, ground in itertools.product(BARS, GROUNDS)]
        pairs += [("on-accent", "accent", 4.5), ("edge", "paper", 3.0)]
        for one, ground, needed in pairs:
            assert _contrast(scheme[one], scheme[ground]) >= needed, (one, ground)


def test_bars_have_contrast_on_paper() -> None:
    """Printed, bars and the threshold have 3:1 against all that they stand on."""
    style = (FOLDER / "static" / "page.css").read_text(encoding="utf-8")
    printed = style[style.index("@media print") :].replace("#fff;", "#ffffff;").replace("#bbb;", "#bbbbbb;")
    scheme = dict(_colours(printed))
    for one, ground in itertools.product(BARS, GROUNDS):
        assert _contrast(scheme[one], scheme[ground]) >= 3.0, (one, ground)
