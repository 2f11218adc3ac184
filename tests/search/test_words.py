"""From text to terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.search.stem import stem
from octoc.search.words import MAX_CLAUSES, clauses, first_sentence, joined, misspellings, query_terms, terms, words

# Out of Snowball's own vocabulary and output for English.
STEMS = {
    "consign": "consign", "consigned": "consign", "consigning": "consign", "consistency": "consist",
    "consolation": "consol", "generate": "generat", "generating": "generat", "knitting": "knit", "sky": "sky",
    "skies": "sky", "dying": "die", "proceed": "proceed", "repositories": "repositori", "databases": "databas",
    "hopping": "hop", "hoped": "hope", "by": "by", "say": "say", "cry": "cri", "ties": "tie", "cries": "cri",
    "gaps": "gap", "gas": "gas", "kiwis": "kiwi", "agreed": "agre", "feed": "feed", "relational": "relat",
    "rollout": "rollout", "biologist": "biolog", "technologies": "technolog", "succeeding": "succeed",
}  # fmt: skip


@pytest.mark.parametrize("word", STEMS)
def test_words_of_a_family_have_one_stem(word: str) -> None:
    """Stems are Snowball's."""
    assert stem(word) == STEMS[word]


@given(st.text(max_size=30))
def test_any_text_has_terms(text: str) -> None:
    """Whatever stands in a text, its words are lower case and its terms are found again the same way."""
    assert all(word == word.lower() and word for word in words(text))
    assert terms(text) == terms(text)
    assert clauses(text)
    assert all(isinstance(one, int) for term in terms(text) for one in misspellings(term))


def test_names_are_taken_apart() -> None:
    """Camel case, acronyms, snake case and digits part a name, and as one word it is known too."""
    assert words("createGitHubIssue") == ["create", "git", "hub", "issue"]
    assert words("HTTPServer2_get-URLs") == ["http", "server", "2", "get", "url"]
    assert joined("create_issue") == "createissue"
    assert joined("fetch") == ""


def test_accents_do_not_split_or_change_words() -> None:
    """An accented Latin letter counts as its base letter, composed or not; other scripts keep their marks."""
    assert words("ÜberTool créer Straße e\u0301tat") == ["uber", "tool", "creer", "strasse", "etat"]
    assert words("ガラス й") == ["ガラス", "й"]


@pytest.mark.parametrize(
    "text, pairs",
    [
        ("列出 GitHub 的所有问题", ["列出", "github", "的所", "所有", "有问", "问题"]),
        ("ファイルを読む", ["ファ", "ァイ", "イル", "ルを", "を読", "読む"]),
        ("이슈를 만들기", ["이슈", "슈를", "만들", "들기"]),
    ],
)
def test_unspaced_scripts_give_pairs_of_characters(text: str, pairs: list[str]) -> None:
    """Chinese, Japanese and Korean text becomes pairs of neighbouring characters, in tools and in queries alike."""
    assert terms(text) == pairs
    assert list(query_terms(text)) == pairs


def test_a_known_product_is_one_word() -> None:
    """A product's name in mixed case is one word; within an identifier it is split as others are."""
    assert words("GitHub and arXiv, openDoor") == ["github", "and", "arxiv", "open", "door"]
    assert words("createGitHubIssue") == ["create", "git", "hub", "issue"]


def test_stop_words_count_only_where_there_is_nothing_else() -> None:
    """Words that say nothing are left out of a query, unless the query has no others; a term counts once."""
    assert query_terms("please list all of the files files") == {"list": "list", "file": "files"}
    assert list(query_terms("what is this")) == ["what", "is", "this"]


def test_a_query_falls_into_clauses() -> None:
    """What asks for one thing each is a clause; a single word stays with what is before it; there are not many."""
    assert clauses("crawl a site, then send it to Anna and wait") == ("crawl a site", "send it to Anna wait")
    assert clauses("list files") == ("list files",)
    assert len(clauses(", ".join(f"do thing {number}" for number in range(50)))) == MAX_CLAUSES


def test_a_slip_of_the_pen_has_something_in_common() -> None:
    """A missing, a doubled, a wrong or a swapped letter leaves a shared hash; short words have none."""
    right = set(misspellings("transcrib"))
    assert all(right & set(misspellings(wrong)) for wrong in ("trancrib", "transcribb", "tronscrib", "tarnscrib"))
    assert not right & set(misspellings("describe"))
    assert misspellings("get") == ()


def test_a_first_sentence_ends_at_a_stop_or_a_line() -> None:
    """A full stop inside a number or a name ends no sentence."""
    assert first_sentence("Reads v1.2 files. Then more.") == "Reads v1.2 files."
    assert first_sentence("One line\nand another") == "One line"
