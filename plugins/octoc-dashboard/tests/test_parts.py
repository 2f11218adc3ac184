"""What the page is made of: text that stays text, visits that end, readable colours, files that are installed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

import octoc_serve.page
from octoc_serve.page.markup import document, escaped, tag, verbatim
from octoc_serve.page.visits import MOST, VISIT_S, Visits


def test_a_visit_ends_by_itself() -> None:
    """After its time, and when there are too many: then the oldest."""
    now = 0.0
    visits = Visits(clock=lambda: now)
    first = visits.begin("one")
    assert visits.token(first) == "one"
    assert "one" not in repr(visits.__dict__)
    names = [visits.begin("more") for _ in range(MOST)]
    assert visits.token(first) is None
    assert visits.token(names[-1]) == "more"
    now = VISIT_S
    assert visits.token(names[-1]) is None


@pytest.mark.parametrize("text", ["<&>\"'", "&amp;", "</title>", "a\tb\nc", "日本語 🙂"])
def test_text_stays_text(text: str) -> None:
    """What a browser reads in an element or an attribute is the text that was put there."""
    page = document(text, tag("p", text, title=text)).decode()
    assert html.unescape(re.findall(r'<p title="([^"]*)">', page)[0]) == text
    assert html.unescape(re.findall(r"<p [^>]*>([^<]*)</p>", page)[0]) == text


def test_what_hides_in_text_is_shown() -> None:
    """Signs that nobody would see, or that turn a line around, are written out; a field keeps them to send back."""
    assert escaped("a\x1b\u202e\u200b\x00\ud800<") == r"a\u{1B}\u{202E}\u{200B}\u{0}\u{D800}&lt;"
    assert verbatim("a\u202e<") == "a\u202e&lt;"
    assert document("\ud800", verbatim("\ud800"))


def test_the_wheel_has_the_style_and_the_icon() -> None:
    """What the page reads beside its code is installed with it."""
    folder = Path(octoc_serve.page.__file__).parent.parent.parent
    files = {one.distribution_path for one in WheelBuilder(str(folder)).recurse_included_files()}
    assert {"octoc_serve/page/page.css", "octoc_serve/page/icon.svg", "octoc_serve/page/site.py"} <= files


def _colours(scheme: str) -> Iterator[tuple[str, tuple[float, float, float]]]:
    for name, value in re.findall(r"--([a-z-]+): #([0-9a-f]{6});", scheme):
        red, green, blue = (int(value[place : place + 2], 16) / 255 for place in (0, 2, 4))
        yield name, (red, green, blue)


def _luminance(colour: tuple[float, float, float]) -> float:
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_both_schemes_have_contrast() -> None:
    """Text has 4.5:1 on each ground that it stands on, what bounds a field or draws the threshold 3:1: WCAG 2.2 AA."""
    style = (Path(octoc_serve.page.__file__).parent / "page.css").read_text(encoding="utf-8")
    light = dict(_colours(style[style.index(":root") : style.index("@media")]))
    dark = dict(_colours(style[style.index("prefers-color-scheme: dark") : style.index("*, *::before")]))
    assert light.keys() == dark.keys()
    for scheme in (light, dark):
        pairs = [
            (one, ground, 4.5)
            for one in ("ink", "soft", "accent", "bad", "good", "threshold")
            for ground in ("paper", "raised")
        ]
        pairs += [("on-accent", "accent", 4.5), ("edge", "paper", 3.0), ("threshold", "raised", 3.0)]
        for one, ground, needed in pairs:
            high, low = sorted((_luminance(scheme[one]), _luminance(scheme[ground])), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= needed, (one, ground)
