"""Snowball's stemmer for English (Porter2): words of one family become one term.

Source: https://snowballstem.org/algorithms/english/stemmer.html. Implemented here, since a library for all languages
takes longer to load than the rest of the search.
"""

from __future__ import annotations

import re
from functools import lru_cache

_KEPT = {"sky", "news", "howe", "atlas", "cosmos", "bias", "andes"}
_SPECIAL = {
    "skis": "ski",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
}
_KEPT_AFTER_1A = {"inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"}
_REGION = re.compile(r"[aeiouy][^aeiouy]")
_PREFIX = re.compile(r"gener|commun|arsen|past|univers|later|emerg|organ|inter")
_DOUBLE = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_VOWELS = "aeiouy"
_STEP_2 = (
    ("ization", "ize"), ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"),
    ("tional", "tion"), ("biliti", "ble"), ("lessli", "less"), ("ogist", "og"), ("entli", "ent"), ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"), ("ousli", "ous"), ("iviti", "ive"), ("fulli", "ful"), ("enci", "ence"), ("anci", "ance"),
    ("abli", "able"), ("izer", "ize"), ("ator", "ate"), ("alli", "al"), ("bli", "ble"), ("ogi", "og"), ("li", ""),
)  # fmt: skip
_STEP_3 = (
    ("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("icate", "ic"), ("iciti", "ic"), ("ative", ""),
    ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP_4 = (
    *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize"),
    *("ion", "al", "er", "ic"),
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; a word without Latin letters, or of two, is unchanged."""
    if len(word) <= 2 or word in _KEPT:
        return word
    if word in _SPECIAL:
        return _SPECIAL[word]
    word = _marked(word.removeprefix("'"))
    r1, r2 = _regions(word)
    word = _step_1a(word.removesuffix("'s'").removesuffix("'s").removesuffix("'"))
    if word in _KEPT_AFTER_1A:
        return word
    word = _step_1b(word, r1)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    word = _step_5(_step_4(_step_3(_step_2(word, r1), r1, r2), r2), r1, r2)
    return word.replace("Y", "y")


def _marked(word: str) -> str:
    """Write each `y` that is a consonant as `Y`."""
    if "y" not in word:
        return word
    letters = list(word)
    for place, letter in enumerate(letters):
        if letter == "y" and (place == 0 or letters[place - 1] in _VOWELS):
            letters[place] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Return where R1 and R2 begin."""
    prefix = _PREFIX.match(word)
    r1 = prefix.end() if prefix else _region_end(word, 0)
    return r1, _region_end(word, r1)


def _region_end(word: str, start: int) -> int:
    match = _REGION.search(word, start)
    return match.end() if match else len(word)


def _step_1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")) or not word.endswith("s"):
        return word
    return word[:-1] if any(letter in _VOWELS for letter in word[:-2]) else word


def _step_1b(word: str, r1: int) -> str:
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            return word[: -len(suffix)] + "ee" if len(word) - len(suffix) >= r1 else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            break
    else:
        return word
    cut = word[: -len(suffix)]
    if suffix == "ing" and len(cut) == 2 and cut[1] in "yY" and cut[0] not in _VOWELS:
        return cut[0] + "ie"
    if not any(letter in _VOWELS for letter in cut):
        return word
    if cut.endswith(("at", "bl", "iz")):
        return cut + "e"
    if cut.endswith(_DOUBLE):
        return cut if len(cut) == 3 and cut[0] in "aeo" else cut[:-1]
    return cut + "e" if len(cut) <= r1 and _is_short(cut) else cut


def _is_short(word: str) -> bool:
    """Return whether a word ends in a short syllable."""
    if word.endswith("past"):
        return True
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return len(word) > 2 and word[-1] not in "aeiouywxY" and word[-2] in _VOWELS and word[-3] not in _VOWELS


def _step_2(word: str, r1: int) -> str:
    for suffix, new in _STEP_2:
        if word.endswith(suffix):
            cut = word[: -len(suffix)]
            if len(cut) < r1 or (suffix == "ogi" and not cut.endswith("l")):
                return word
            return word if suffix == "li" and not cut.endswith(tuple("cdeghkmnrt")) else cut + new
    return word


def _step_3(word: str, r1: int, r2: int) -> str:
    for suffix, new in _STEP_3:
        if word.endswith(suffix):
            cut = word[: -len(suffix)]
            return cut + new if len(cut) >= (r2 if suffix == "ative" else r1) else word
    return word


def _step_4(word: str, r2: int) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            cut = word[: -len(suffix)]
            fits = len(cut) >= r2 and (suffix != "ion" or cut.endswith(("s", "t")))
            return cut if fits else word
    return word


def _step_5(word: str, r1: int, r2: int) -> str:
    if word.endswith("e"):
        cut = word[:-1]
        return cut if len(cut) >= r2 or (len(cut) >= r1 and not _is_short(cut)) else word
    return word[:-1] if word.endswith("ll") and len(word) - 1 >= r2 else word
