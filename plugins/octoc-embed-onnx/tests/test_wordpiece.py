"""Our tokeniser against the `tokenizers` package, which implements the same method independently."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import octoc_embed_onnx
from octoc_embed_onnx.wordpiece import MAX_WORD_CHARS, WordPiece, basic_words

VOCABULARY = (Path(octoc_embed_onnx.__file__).parent / "data" / "vocab.txt").read_text(encoding="utf-8")
OURS = WordPiece.from_lines(VOCABULARY)


def _oracle() -> Tokenizer:
    pieces = {piece: number for number, piece in enumerate(VOCABULARY.split("\n")[:-1])}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=MAX_WORD_CHARS))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


ORACLE = _oracle()


def expected(text: str, max_tokens: int = 256) -> list[int]:
    """Return what the oracle makes of `text`, between `[CLS]` and `[SEP]`."""
    numbers: list[int] = ORACLE.encode(text, add_special_tokens=False).ids
    return [101, *numbers[: max_tokens - 2], 102]


ADVERSARIAL = [
    "",
    "   \t\n ",
    "Create a pull request on GitHub, please!",
    "naïve Café ÀÉÎÕÜ ñ ç ß ﬁ Å",
    "e\u0301 e\u0301\u0323 \u0301 a\u0301\u0301",
    "ΟΔΥΣΣΕΥΣ ὈΔΥΣΣΕΎΣ Σ",
    "\u0130stanbul ISPARTA \u0131\u011fd\u0131r",
    "北京2024年 日本語テスト 한국어 문장",
    "\u4e00\u9fa5\uf900\ufa0e\U00020000\U0002f800",
    "zero\u200bwidth\u200djoin\ufeff soft\u00adhyphen",
    "nul\x00 bell\x07 vt\x0b ff\x0c fs\x1c nel\x85 del\x7f",
    "nbsp\u00a0thin\u2009line\u2028para\u2029ideo\u3000wide",
    "\ufffd replacement \ufffdinside\ufffd",
    "private \ue000 use",
    "👩\u200d💻 🇩🇪 ❤️ 1️⃣ ¯\\_(ツ)_/¯",
    "$a+b=c^d`e|f~g<h>",
    "“quoted” \u2018single\u2019 — dash … ¿qué? «guillemets» §1 ¶2 ©",
    "٣٤٥ ½ ² ₂ Ⅷ ①",
    "नमस्ते สวัสดี مرحبا שלום",
    "a" * MAX_WORD_CHARS,
    "a" * (MAX_WORD_CHARS + 1),
    "é" * (MAX_WORD_CHARS + 1),
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "[CLS] [SEP] [MASK] ##ing [unused1]",
    "snake_case camelCase kebab-case C++ C# .NET /usr/bin/env --flag=1",
    "https://example.com/a?b=c&d=%20#e user@example.org",
]


@pytest.mark.parametrize("text", ADVERSARIAL)
def test_adversarial_text_is_tokenised_as_the_oracle_does(text: str) -> None:
    """Fixed texts of many scripts, signs and lengths have the oracle's tokens."""
    assert OURS.encode(text, 256) == expected(text)


def test_text_longer_than_the_limit_is_cut_to_it() -> None:
    """A text of more tokens than the limit keeps the first ones, between `[CLS]` and `[SEP]`."""
    text = "tokenisation of überlong texts, " * 200
    assert len(OURS.encode(text, 256)) == 256
    assert OURS.encode(text, 256) == expected(text)
    assert OURS.encode(text, 7) == expected(text, 7)


# Characters that every Unicode version since 9 knows alike: the oracle's tables and Python's are of different versions.
COMMON = st.characters(max_codepoint=0x2FFF, categories=("L", "N", "P", "S", "Z", "Mn", "Cc")).filter(
    lambda char: unicodedata.ucd_3_2_0.category(char) == unicodedata.category(char)
)
PLAIN = st.text(st.characters(min_codepoint=0, max_codepoint=0x17F))
MIXED = st.text(COMMON)
WORDS = st.lists(st.sampled_from(["running", "unhappily", "日本", "Café,", "x-ray", "Ünïcödé", "\u00a0", "\n"]))


@given(st.one_of(PLAIN, MIXED, WORDS.map(" ".join)))
def test_any_text_is_tokenised_as_the_oracle_does(text: str) -> None:
    """Any text has the oracle's tokens."""
    assert OURS.encode(text, 256) == expected(text)


@given(st.text(), st.integers(min_value=2, max_value=40))
def test_the_limit_holds_and_cuts_only(text: str, limit: int) -> None:
    """A lower limit gives the same leading tokens, never more than the limit."""
    full = OURS.encode(text, 10_000)
    cut = OURS.encode(text, limit)
    assert len(cut) <= limit
    assert cut[:-1] == full[:-1][: limit - 1]


@given(st.text())
def test_words_are_never_blank(text: str) -> None:
    """Whatever the text, no word is empty or has white space in it."""
    assert all(word and not word.isspace() for word in basic_words(text))


def test_the_vocabulary_is_bert_base_uncased() -> None:
    """The vocabulary that ships has its 30,522 pieces, the special tokens where the model expects them."""
    assert len(OURS.vocabulary) == 30_522
    assert [OURS.vocabulary[token] for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the")] == [0, 100, 101, 102, 1996]


def test_a_vocabulary_without_special_tokens_is_refused() -> None:
    """A vocabulary that lacks a special token is an error that names it."""
    with pytest.raises(ValueError, match=r"\[SEP\]"):
        WordPiece.from_lines("[UNK]\n[CLS]\nword\n")
