"""The sentences of a long message that are decided one by one."""

from hypothesis import given
from hypothesis import strategies as st

from octoc.routing.windows import LONG, windows

CHAT = "It rained all day and the roof of the shed is leaking again. We sat inside and played cards until dinner."


def test_a_message_of_usual_length_is_decided_as_a_whole() -> None:
    """Two sentences of chat have no windows."""
    assert windows(CHAT) == ()


def test_a_long_message_is_cut_into_its_sentences() -> None:
    """Sentences end at punctuation and at line breaks; repeated and very short ones are left out."""
    text = f"{CHAT}\n\nlist the open issues\n{CHAT} Lovely. {'All of us were wet! ' * 8}"
    first, second, request, last = windows(text)
    assert f"{first} {second}" == CHAT
    assert (request, last) == ("list the open issues", "All of us were wet!")


def test_text_without_blanks_is_cut_too() -> None:
    """Chinese sentences end without a blank after them."""
    sentence = "今天下雨了我们在家里打牌。"
    assert windows(sentence * 10 + "请列出所有问题") == (sentence, "请列出所有问题")


@given(st.text(max_size=LONG * 3))
def test_windows_are_parts_of_the_text(text: str) -> None:
    """Each window is in the text."""
    assert all(window in text for window in windows(text))
