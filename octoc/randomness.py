"""Tells random text, as tokens are made of, from names, paths, versions and digests."""

from __future__ import annotations

import math
import re
from collections import Counter

_TOKEN = re.compile(r"[A-Za-z0-9_+/=.~-]+\Z")
# The pieces that a reader sees: a word with or without a capital, capitals, a number.
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_HEX_OR_UUID = re.compile(r"(?:[0-9a-f]{32,}|[0-9A-F]{32,})|(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})")
_DIGEST = re.compile(r"(?i)(?:sha(?:1|256|384|512)|md5|blake3)[-:_=].*")
_MIN_BITS_PER_CHARACTER = 3.4
_SHORTEST = 20
_SHORTEST_OF_TWO_KINDS = 32
_KINDS = (str.islower, str.isupper, str.isdigit)
_HEX = re.compile(r"(?i)[0-9a-f]+")
_MARKS = re.compile(r"[/_.-]")
_WORD_OR_NUMBER = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]*")
_MOST_DOTS = 2  # as a JWT has
# Random text of letters and digits has pieces of 1.9 characters on average, names of 4 and more.
_LONGEST_PIECES = 2.8


def is_random(text: str, least: int = _SHORTEST) -> bool:
    """Tell whether a text of at least `least` characters reads as random. Hexadecimal alone never does."""
    whole = text.strip("=/.")
    if len(whole) < least or not _TOKEN.match(whole) or is_hex_or_uuid(whole) or _DIGEST.fullmatch(text):
        return False
    if whole.count(".") > _MOST_DOTS:  # a host or a version
        return False
    # Words and numbers between marks are a path, a name, or a prefix such as `api_live_`.
    core = "".join(part for part in _MARKS.split(whole) if not _WORD_OR_NUMBER.fullmatch(part))
    if len(core) < least:
        return False
    kinds = sum(any(map(is_kind, core)) for is_kind in _KINDS)
    if not any(map(str.isdigit, core)) or not any(map(str.isalpha, core)):
        return False
    if kinds < len(_KINDS) and (len(core) < _SHORTEST_OF_TWO_KINDS or _HEX.fullmatch(core)):
        return False
    pieces = _PIECES.findall(core)
    if sum(map(len, pieces)) > _LONGEST_PIECES * len(pieces):
        return False
    return _bits_per_character(core) >= _MIN_BITS_PER_CHARACTER


def is_hex_or_uuid(text: str) -> bool:
    """Tell whether a text is 32 or more hexadecimal digits, or a UUID: a key, a digest or a name, as its place says."""
    return _HEX_OR_UUID.fullmatch(text) is not None


def _bits_per_character(text: str) -> float:
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values())
