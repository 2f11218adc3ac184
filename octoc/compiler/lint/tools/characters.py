"""Find invisible characters, and letters that look like others, in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import attrs

from octoc.plain_text import shortened

_CONTROLS = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f"
_INVISIBLE = (
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164"
    "\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb\\U0001d173-\\U0001d17a\\U000e0000-\\U000e01ef"
)
_RUN = re.compile(f"[{_CONTROLS}{_INVISIBLE}]+")
_ASCII_CONTROLS = bytes(code for code in (*range(32), 127) if chr(code) not in "\t\n\r")
_RIGHT_TO_LEFT = re.compile("[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc]")
_FLAG = "\U0001f3f4"
_FLAGS = frozenset({"gbeng", "gbsct", "gbwls"})
"""The flags whose emoji consist of tag characters: England, Scotland and Wales."""
_JOINERS = "\u200c\u200d"
_MARKS = "\u200e\u200f"
_TAGS = range(0xE0000, 0xE0080)
_SELECTORS = range(0xFE00, 0xFE10)
_OF_EMOJI = "\ufe0e\ufe0f"
_MORE_SELECTORS = range(0xE0100, 0xE01F0)

LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝɡ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρυικ" + "օսոցհԼ",  # noqa: RUF001  # lookalikes are the data
    "ABESIJKMHOPCTYXaesijopcyxhdqwg" + "ABEZHIKMNOPTYXovpuik" + "ounghL",
)
"""Letters of Cyrillic, IPA, Greek and Armenian -> the ASCII letters that fonts draw alike. Chosen by hand."""
_QUOTED = 60
_WORD = re.compile(r"[^\W_]+")


@attrs.frozen(kw_only=True)
class InvisibleRun:
    """A range of invisible characters. `spelt` is the text that the tag characters among them spell."""

    start: int
    end: int
    names: tuple[str, ...]
    spelt: str = ""


def invisible_runs(text: str) -> Iterator[InvisibleRun]:
    """Yield the runs of invisible characters, except those that scripts and emoji need."""
    if text.isascii():
        data = text.encode()
        if len(data) == len(data.translate(None, _ASCII_CONTROLS)):
            return
    has_right_to_left = _RIGHT_TO_LEFT.search(text) is not None
    for match in _RUN.finditer(text):
        run = match.group()
        before = text[match.start() - 1] if match.start() else ""
        # Before a fence it keeps a block inside of another one open.
        if set(run) == {"\u200b"} and text.startswith("```", match.end()):
            continue
        if _is_writing(run, before, text[match.end() : match.end() + 1], has_right_to_left=has_right_to_left):
            continue
        spelt = "".join(chr(ord(one) - 0xE0000) for one in run if 0xE0020 <= ord(one) < 0xE007F)
        names = tuple(dict.fromkeys(map(named, run)))
        yield InvisibleRun(start=match.start(), end=match.end(), names=names, spelt=spelt)


def named(character: str) -> str:
    """Return a character as `U+200B ZERO WIDTH SPACE`, or only its number if it has no name."""
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


def _is_writing(run: str, before: str, after: str, *, has_right_to_left: bool) -> bool:
    if before == _FLAG and run[-1] == "\U000e007f":
        return "".join(chr(ord(one) - 0xE0000) for one in run[:-1] if ord(one) in _TAGS) in _FLAGS
    selectors = [one for one in run if ord(one) in _SELECTORS or ord(one) in _MORE_SELECTORS]
    joiners = [one for one in run if one in _JOINERS]
    marks = [one for one in run if one in _MARKS]
    if len(selectors) + len(joiners) + len(marks) < len(run) or len(selectors) > 1 or len(joiners) > 1:
        return False
    if marks and not has_right_to_left:
        return False
    if selectors and before.isascii() and before.isalpha():
        return False
    # A deleted emoji leaves its selector behind, which carries nothing.
    if selectors and (not before or before.isspace()) and selectors[0] not in _OF_EMOJI:
        return False
    # A joiner stands between letters of scripts that join, or between the parts of one emoji.
    return not joiners or (_joins(before) and (bool(selectors) or _joins(after) or joiners == ["\u200c"]))


def _joins(character: str) -> bool:
    return bool(character) and not character.isascii() and unicodedata.category(character)[0] in "LMS"


def confusable_words(text: str, *, is_name: bool) -> Iterator[tuple[int, int, str, str]]:
    """Yield start, end, the ASCII text that a word looks like, and its first letter outside ASCII.

    In prose, a word must mix ASCII letters with lookalikes. In a name, a word of only lookalikes, full-width or
    mathematical letters is enough.
    """
    if text.isascii():
        return
    for match in _WORD.finditer(text):
        word = match.group()
        if word.isascii():
            continue
        plain = (unicodedata.normalize("NFKC", word) if is_name else word).translate(LOOKALIKES)
        if not plain.isascii():
            continue
        odd = next(letter for letter in word if not letter.isascii())
        mixed = any(letter.isascii() and letter.isalpha() for letter in word)
        if is_name or mixed:
            yield match.start(), match.end(), plain, named(odd)


def quoted(text: str) -> str:
    """Return text for a message: one line without backticks and invisible characters, at most 60 characters."""
    plain = printable(" ".join(text.split())).replace("`", "'")
    return shortened(plain, _QUOTED)


def printable(text: str) -> str:
    r"""Return text with every invisible or unassigned character written as `\u{200B}`."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else f"\\u{{{ord(one):X}}}" for one in text)
