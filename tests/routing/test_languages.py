"""The language that a text is written in."""

import pytest

from octoc.routing.clean import clean_intent, is_routable
from octoc.routing.languages import ENGLISH, language_of, languages_of, letters_in, script_of, shares_word


@pytest.mark.parametrize(
    "text, language",
    [
        ("Kannst du mir erklären, warum der Himmel blau ist?", "German"),
        ("Pourquoi les feuilles changent-elles de couleur en automne ?", "French"),
        ("No sé si comprar una bicicleta o seguir yendo en autobús", "Spanish"),
        ("Não sei se devo aceitar a proposta de emprego", "Portuguese"),
        ("Non sono sicuro di dove ho messo il documento della banca", "Italian"),
        ("Kun je de vergadering van morgen naar vrijdag verplaatsen?", "Dutch"),
        ("aaj main bahut thak gaya hoon, kal baat karte hain", "Hindi in Latin letters"),
        ("आसमान नीला क्यों होता है?", "Devanagari"),
        ("把这个文件发给财务", "Chinese"),
        ("明日の会議の部屋を予約してください", "Japanese"),
        ("내일 회의실을 예약해 줘", "Korean"),
        ("احجز غرفة لاجتماع الغد", "Arabic"),
        ("забронируй переговорную на завтра", "Cyrillic"),
        ("จองห้องประชุมพรุ่งนี้", "Thai"),
        ("הזמן חדר ישיבות למחר", "Hebrew"),
        ("please book the café in Zürich for Jürgen and me", ENGLISH),
        ("git rebase -i HEAD~3", ENGLISH),
        ("merge PR 51 of the repo 前端", ENGLISH),
        ("what does the word 'Schadenfreude' mean in the article by Le Monde?", ENGLISH),
        ("", ENGLISH),
        ("12 + 7 = ?", ENGLISH),
    ],
)
def test_a_text_has_a_language(text: str, language: str) -> None:
    """Letters tell a script, function words a language in Latin letters; anything else counts as English."""
    assert language_of(text) == language


def test_a_script_outweighs_names_in_other_letters() -> None:
    """A character that stands for a word weighs more than a letter, so one product name changes no script."""
    assert script_of("帮我在 GitHub 上新建一个问题") == "Chinese"
    assert script_of("open the GitHub issue about 登录") == ENGLISH


@pytest.mark.parametrize("text, routable", [("查天气", True), ("谢谢", False), ("予約して", True), ("thanks", False)])
def test_the_shortest_message_counts_by_script(text: str, routable: bool) -> None:
    """Three Chinese characters or four kana are long enough; as many Latin letters are not."""
    assert is_routable(clean_intent(text)) is routable
    assert letters_in("ab cd") == 4


def test_a_workspace_speaks_the_language_of_half_of_its_capabilities() -> None:
    """One capability with German triggers does not make German a language of the workspace."""
    german, english = ["zeig mir die Termine von heute"], ["show the appointments of today"]
    assert languages_of([german, german, english]) == ("German",)
    assert languages_of([german, english, english]) == ()


def test_function_words_are_no_shared_words() -> None:
    """Texts share a word by its beginning; articles and the like do not count."""
    assert shares_word("qui est la personne de la Cour ?", ["search the Cour de cassation"])
    assert not shares_word("la fin de la journée", ["search the Cour de la cassation"])
