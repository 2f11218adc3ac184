"""Text to terms: identifiers are split, stop words dropped, other words stemmed. Pure functions, no numpy."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import cache, lru_cache

from octoc.search.products import is_product
from octoc.search.stem import stem

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
# Han, kana, Thai, Lao, Burmese and Khmer are written without blanks between words; Korean joins particles to a word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_MIXED_CASE = re.compile(r"\b[A-Za-z]*[a-z][A-Z][A-Za-z]*\b")
_ACCENT = re.compile("(?<=[a-zA-Z])[\u0300-\u036f]+")
_LATIN = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D"})
_PLURAL_ACRONYM = re.compile(r"\b([A-Z]{2,})s\b")
_CLAUSE = re.compile(r"[.;:!?\n]+|,(?!\d)|\b(?:and then|and|then|afterwards|after that)\b", re.IGNORECASE)
MAX_CLAUSES = 8
MAX_WORD_CHARS = 64
"""The index keeps this many characters of a word: a longer one is data or a path, not a word that a query repeats."""
MAX_SLIP_CHARS = 32
"""Longer terms have no misspellings, whose computation is quadratic in the term's length."""
MAX_QUERY_CHARS = 2000
"""Characters of a query that are read, as a query is not a document."""

STOP_WORDS = frozenset(
    re.split(
        r"\s+",
        """a about all also am an and any are as at be been being but by can could did do does doing done else for from
had has have having he her here hers him his how i if in into is it its just kindly let like may me might mine
must my no nor not of on onto or our ours out please put shall she should so some such than thank thanks
that the their them then there these they this those through thus to too upon us very via want was we were
what whatever when where whether which while who whom whose why will with within without would you your yours""",
    )
)
"""Words without information about what a tool does."""


def words(text: str) -> list[str]:
    """Return the words of a text, lower case: `createIssue`, `create_issue` and `create-issue` are the same two.

    Accents of Latin letters do not count. A product's name, such as `GitHub`, is one word.
    """
    plain = text if text.isascii() else _without_accents(text)
    if not plain.islower():
        plain = _MIXED_CASE.sub(_product_whole, plain)
    return [part.lower() for part in _PART.findall(_PLURAL_ACRONYM.sub(r"\1", plain))]


def _product_whole(match: re.Match[str]) -> str:
    lower = match.group().lower()
    return lower if is_product(lower) else match.group()


def _without_accents(text: str) -> str:
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text))).translate(_LATIN)


def terms(text: str) -> list[str]:
    """Return the stems of a text's words without stop words, in order, with repetitions.

    Chinese, Japanese, Korean and the like give pairs of neighbouring characters, not words. The work and the
    number of terms are linear in the length of any text.
    """
    return [stem(piece) for word in words(text) if word not in STOP_WORDS for piece in _pieces(word)]


def _pieces(word: str) -> list[str]:
    """Return a word as in the index: its first characters, or the pairs of neighbours in `_UNSPACED` text."""
    if word.isascii() or not (unspaced := _unspaced()).search(word):
        return [word[:MAX_WORD_CHARS]]
    pieces: list[str] = []
    for stretch in _stretch().findall(word):
        if len(stretch) > 2 and unspaced.match(stretch):
            pieces += [stretch[place : place + 2] for place in range(len(stretch) - 1)]
        else:
            pieces.append(stretch[:MAX_WORD_CHARS])
    return pieces


# These two take milliseconds to compile, and texts in ASCII need neither.
@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def _stretch() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


def query_terms(query: str) -> dict[str, str]:
    """Return the distinct terms of a query in order, each with its word; for a query of only stop words, these."""
    found = words(query[:MAX_QUERY_CHARS])
    kept = [word for word in found if word not in STOP_WORDS] or found
    spelled: dict[str, str] = {}
    for word in kept:
        for piece in _pieces(word):
            spelled.setdefault(stem(piece), piece)
    return spelled


def joined(name: str) -> str:
    """Return the words of a name written as one, as queries may have it; "" for a single word."""
    parts = words(name)
    return "".join(parts) if len(parts) > 1 else ""


def clauses(query: str) -> tuple[str, ...]:
    """Return the parts of a query that ask for one thing each, at most `MAX_CLAUSES`; the whole query if it is one.

    A part of a single word belongs to the part before it.
    """
    parts: list[str] = []
    for piece in _CLAUSE.split(query[:MAX_QUERY_CHARS]):
        text = piece.strip()
        if not text:
            continue
        if parts and len(words(text)) < 2:
            parts[-1] = f"{parts[-1]} {text}"
        else:
            parts.append(text)
    return tuple(parts[:MAX_CLAUSES]) if len(parts) > 1 else (query[:MAX_QUERY_CHARS].strip(),)


def first_sentence(text: str) -> str:
    """Return the text before the first full stop that is followed by a blank, or the first line."""
    return re.split(r"(?<=[.!?])\s|\n", text.strip(), maxsplit=1)[0]


@lru_cache(maxsize=1 << 16)
def hashed(term: str) -> int:
    """Return the number of a term in an index: 64 bits of its BLAKE2b digest, little-endian."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def spelled(term: str) -> int:
    """Return the number in an index of a term that a tool spells out, in its name or description."""
    return hashed(f"={term}")


def misspellings(term: str) -> tuple[int, ...]:
    """Return the hashes of a term and of it without one letter.

    A term has none if it has less than 4 letters, more than `MAX_SLIP_CHARS`, or any other character.

    Two terms that differ by one edit, or by swapped neighbours, have one of these in common.
    Source: SymSpell's symmetric deletes.
    """
    if not 4 <= len(term) <= MAX_SLIP_CHARS or not term.isalpha():
        return ()
    shorter = (term[:place] + term[place + 1 :] for place in range(len(term)))
    return tuple(dict.fromkeys(hashed(f"~{one}") for one in (term, *shorter)))
