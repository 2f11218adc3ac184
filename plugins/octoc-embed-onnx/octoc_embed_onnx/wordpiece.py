"""BERT's uncased tokenisation: clean, lower, strip accents, split at punctuation, then longest pieces from the left.

Source: google-research/bert, `tokenization.py` (BasicTokenizer, WordpieceTokenizer). One difference is
intended: a special token in the text, such as `[SEP]`, is plain text here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

import attrs

MAX_WORD_CHARS = 100
"""A longer word is one unknown token."""

_PREFIX = "##"
# Unicode's White_Space without the control characters that cleaning removes.
_CHUNK = re.compile("[^\t\n\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = dict.fromkeys([*range(0x20), 0x7F])
_CJK = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


@attrs.frozen
class WordPiece:
    """A tokeniser over one vocabulary: piece -> its number."""

    vocabulary: Mapping[str, int] = attrs.field(repr=False)

    @classmethod
    def from_lines(cls, vocabulary: str) -> WordPiece:
        """Read a vocabulary of one piece per line; a piece's number is its line, from 0.

        Raises: ValueError, if a special token is missing.
        """
        pieces = {piece: number for number, piece in enumerate(vocabulary.rstrip("\n").split("\n"))}
        missing = [token for token in ("[UNK]", "[CLS]", "[SEP]") if token not in pieces]
        if missing:
            raise ValueError(f"the vocabulary has no {', '.join(missing)}")
        return cls(pieces)

    def encode(self, text: str, max_tokens: int) -> list[int]:
        """Return the numbers of `[CLS]`, of the text's pieces and of `[SEP]`, at most `max_tokens` in all."""
        numbers = [self.vocabulary["[CLS]"]]
        for word in basic_words(text):
            numbers += self.pieces(word)
            if len(numbers) >= max_tokens:
                break
        return [*numbers[: max_tokens - 1], self.vocabulary["[SEP]"]]

    def pieces(self, word: str) -> list[int]:
        """Return the numbers of a word's pieces, each the longest from the left, or only that of the unknown token."""
        unknown = [self.vocabulary["[UNK]"]]
        if len(word) > MAX_WORD_CHARS:
            return unknown
        numbers: list[int] = []
        start = 0
        while start < len(word):
            prefix = _PREFIX if start else ""
            for end in range(len(word), start, -1):
                number = self.vocabulary.get(prefix + word[start:end])
                if number is not None:
                    numbers.append(number)
                    start = end
                    break
            else:
                return unknown
        return numbers


def basic_words(text: str) -> Iterator[str]:
    """Yield lower-case words without accents; each punctuation character and each CJK ideograph is a word."""
    for match in _CHUNK.finditer(text):
        chunk = match.group()
        if chunk.isascii():
            yield from _ASCII_WORD.findall(chunk.translate(_ASCII_CONTROLS).lower())
        else:
            yield from _unicode_words(chunk)


def _unicode_words(chunk: str) -> Iterator[str]:
    cleaned = "".join(char for char in chunk if not _is_removed(char))
    word: list[str] = []
    for char in unicodedata.normalize("NFD", cleaned):
        category = unicodedata.category(char)
        if category == "Mn":
            continue
        if category[0] == "P" or (_ASCII_WORD.match(char) and not char.isalnum()) or _is_cjk(char):
            if word:
                yield "".join(word)
                word = []
            yield char
        else:
            # Character by character, since `lower` of a whole word would make a final sigma.
            word.append(char.lower())
    if word:
        yield "".join(word)


def _is_removed(char: str) -> bool:
    return char == "\ufffd" or unicodedata.category(char) in {"Cc", "Cf", "Co", "Cs"}


def _is_cjk(char: str) -> bool:
    number = ord(char)
    return number >= _CJK[0][0] and any(first <= number <= last for first, last in _CJK)
