"""What of a message counts for routing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.routing.clean import clean_intent, is_routable, strip_xml_blocks

CASES = [
    ("no markup at all", "no markup at all"),
    ("before <log>noise</log> after", "before  after"),
    ("<a>1</a><b>2</b>rest", "rest"),
    ('<system-reminder level="1">x</system-reminder>hello', "hello"),
    ("<my_tag-2>x</my_tag-2>y", "y"),
    ("a < b and c > d", "a < b and c > d"),
    ("<br> stays, and so does </br", "<br> stays, and so does </br"),
    ("</log> a close tag alone stays", "</log> a close tag alone stays"),
    ("</b> one that stands before <b> counts for nothing", "</b> one that stands before <b> counts for nothing"),
    ("<a>1<a>2</a>3</a>4", "3</a>4"),
    ("<a>1<b>2</a>3</b>4", "3</b>4"),
    ("<open <log>x</log> y", "<open  y"),
    ("<Log>x</log>", "<Log>x</log>"),
    ("<größe>x</größe>y", "y"),
    ("<log x='</log>'>tail", "'>tail"),
    ("<log>never closed", "<log>never closed"),
    ("<>x</>y", "<>x</>y"),
    ("", ""),
]


@pytest.mark.parametrize("text,left", CASES)
def test_xml_blocks_are_dropped(text: str, left: str) -> None:
    """A block goes up to its first close tag; what nothing closes, or is no tag, stays."""
    assert strip_xml_blocks(text) == left


def step_by_step(text: str) -> str:
    """Strip as Octomind's description reads: take the next `<`, and seek that tag's close tag in what is left."""
    kept = ""
    while "<" in text:
        before, _, behind = text.partition("<")
        name = ""
        for char in behind:
            if not (char.isalnum() or char in "-_"):
                break
            name += char
        close = f"</{name}>"
        if name and close in behind:
            kept, text = kept + before, behind.partition(close)[2]
        else:
            kept, text = f"{kept}{before}<", behind
    return kept + text


@given(st.lists(st.sampled_from(["<", "</", ">", "a", "b-1", "<a>", "</a>", "<b x=1>", "</b>", " ", "é"])).map("".join))
def test_stripping_follows_octominds_description(text: str) -> None:
    """Any arrangement of tags is stripped as the description's own steps strip it."""
    assert strip_xml_blocks(text) == step_by_step(text)


def test_a_paste_of_unclosed_tags_is_read_once() -> None:
    """A megabyte of tags that nothing closes is no quadratic search: it ends, and nothing is lost."""
    paste = "".join(f"<t{number}>" for number in range(150_000)) + "</x>"
    assert strip_xml_blocks(paste) == paste


def test_a_cleaned_intent_has_no_white_space_at_its_ends() -> None:
    """White space that a dropped block leaves at the ends goes too."""
    assert clean_intent("\n <log>x</log>\n list my files \n") == "list my files"


@pytest.mark.parametrize(
    "intent,routable",
    [
        ("run tests", True),
        ("fix bug", False),
        ("do it now", False),
        ("a b c d e f g h", True),
        ("a b c d e f g ", False),
        ("", False),
        ("\u00a0\u2003ls -la /tmp", True),
        ("查看当前的容器日志", True),
    ],
)
def test_fewer_than_eight_non_blank_characters_never_route(intent: str, routable: bool) -> None:
    """Non-blank characters are counted, eight suffice."""
    assert is_routable(intent) is routable
