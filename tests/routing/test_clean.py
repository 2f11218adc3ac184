"""What of a message counts for routing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.routing.clean import MAX_INTENT_CHARS, clean_intent, is_routable, strip_xml_blocks
from octoc.routing.paste_filter import by_lines, strip_pasted

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
    ("<a>1<a>2</a>3</a>4", "4"),
    ("<a>1<a>2</a>3", "<a>13"),
    ("<a/>1</a>2", "<a/>1</a>2"),
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
    """A block extends to its own close tag; an unclosed block, or text that only looks like a tag, stays."""
    assert strip_xml_blocks(text) == left


def step_by_step(text: str) -> str:
    """Strip by repeating one step: drop the first block that holds no tag of its own name, and so every block."""
    blocks: list[tuple[int, int]] = []
    waiting: list[tuple[str, int]] = []
    position = 0
    while (position := text.find("<", position)) >= 0:
        behind = text[position + 1 :]
        closes = behind.startswith("/")
        name = re.match(r"[\w-]*", behind[closes:]).group()  # type: ignore[union-attr]
        if name and closes and behind[1 + len(name) :].startswith(">"):
            own = [number for number, (opened, _) in enumerate(waiting) if opened == name]
            if own:
                blocks.append((waiting.pop(own[-1])[1], position + len(name) + 3))
        elif name and not closes:
            waiting.append((name, position))
        position += 1
    inside = {place for start, end in blocks for place in range(start, end)}
    outer = {place for start, end in blocks for place in range(start, end) if not _starts_inside(start, blocks)}
    return "".join(char for place, char in enumerate(text) if place not in (outer or inside))


def _starts_inside(start: int, blocks: list[tuple[int, int]]) -> bool:
    outer = [(first, last) for first, last in blocks if first < start < last]
    return any(not _starts_inside(first, blocks) for first, _ in outer)


@given(st.lists(st.sampled_from(["<", "</", ">", "a", "b-1", "<a>", "</a>", "<b x=1>", "</b>", " ", "é"])).map("".join))
def test_stripping_closes_each_block_by_its_own_tag(text: str) -> None:
    """Any arrangement of tags is stripped as by pairing each close tag with the last open one of its name."""
    assert strip_xml_blocks(text) == step_by_step(text)


def test_a_paste_of_unclosed_tags_is_read_once() -> None:
    """A megabyte of unclosed tags takes linear time and stays in the text."""
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


PASTES = {
    "fenced": "```python\nsend_email(to)\n```",
    "open fence": "~~~\nkubectl get pods",
    "python trace": 'Traceback (most recent call last):\n  File "a.py", line 3, in run\n    go()\nValueError: no',
    "java trace": "java.io.IOException: bot token\n\tat com.acme.Foo.bar(Foo.java:12)\nCaused by: x\n\t... 3 more",
    "node trace": "TypeError: x is undefined\n    at run (/srv/a.js:3:4)\n    at /srv/b.js:1:2",
    "go trace": "panic: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:8\nexit status 2",
    "c# trace": "System.IO.IOException: no such mail\n   at Foo.Bar(String x) in C:\\src\\y.cs:line 42",
    "ruby trace": "app.rb:5:in `send': no such mail (NoMethodError)\n\tfrom app.rb:9:in `<main>'",
    "php trace": "PHP Fatal error:  Uncaught Error: no mail\nStack trace:\n#0 {main}\n  thrown in /x.php on line 3",
    "rustc": "error[E0382]: use of moved value\n  --> src/main.rs:4:5\n   |\n4  |     let x = y;\n   |     ^",
    "log": "2026-11-02T10:11:12Z INFO kubelet started\n2026-11-02T10:11:13Z WARN probe failed",
    "syslog": "Nov  2 10:11:12 host sshd[1]: accepted\nNov  2 10:11:13 host sshd[1]: closed",
    "quoted mail": "On Mon, Ann wrote:\n> meet on Tuesday?\n> I have the stripe invoice",
    "mail at the foot": "-----Original Message-----\nFrom: a@b.c\nTo: d@e.f\n\nplease book the room",
    "headers": "From: a@b.c\nTo: d@e.f\nSubject: the invoice",
    "mail with a broken line": "On Mon, Jan 1, 2026 at 10:00 AM Alexander\n<a@b.c> wrote:\n> meet on Tuesday?",
    "markdown table": "| channel | day |\n|---|---|\n| ops | 1 |",
    "certificate": "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+g\n-----END CERTIFICATE-----",
    "base64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "diff": "diff --git a/x b/x\nindex 1a2b..3c4d 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-docker\n+podman\n same",
    "json": '{\n  "name": "slack",\n  "channels": [1, 2]\n}',
    "json line": '{"channel": "ops", "text": "slack is down"}',
    "csv": "id,name,mail\n1,Ann,a@b.c\n2,Bob,b@b.c",
    "code": "def send_email(to):\n    smtp.send(to)\n    return True",
    "imports": "import numpy as np\nimport {send} from 'mail'\nexport * from './mail'\nreturn null;",
    "dockerfile": 'FROM python:3.12\nRUN pip install flask\nCMD ["python", "app.py"]',
    "table": "kubectl get pods\nNAME READY STATUS RESTARTS\napi-5d 1/1 Running 0",
    "shell": "$ git log --oneline\n$ git status",
    "npm": "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1",
    "image": "Step 2/3 : RUN make\n ---> Running in 0a1b2c3d4e5f\nE: Unable to locate package slack",
    "crash": "Segmentation fault (core dumped)\nmake: *** [Makefile:3: test] Error 139",
    "errors": "redis.exceptions.ConnectionError: refused\nredis.exceptions.ConnectionError: refused",
    "answer": "HTTP/1.1 502 Bad Gateway\ncontent-type: text/html; charset=utf-8\nx-request-id: 7f",
    "calendar": "BEGIN:VEVENT\nDTSTART;TZID=Europe/Rome:20260418T090000\nSUMMARY:Quarterly review\nEND:VEVENT",
    "letter": "Dear Ms Okafor,\nyour parcel left our house today.\n\nKind regards\nTilda Berg\nBerg & Sons",
    "german letter": "Sehr geehrte Frau Krüger,\ndie Rechnung liegt bei.\nMit freundlichen Grüßen\nIhr Gartenmarkt",
}


@pytest.mark.parametrize("paste", PASTES.values(), ids=PASTES)
def test_what_was_pasted_does_not_count(paste: str) -> None:
    """A message of pasted text alone has no intent; beside a request, before or after it, only the request stays."""
    assert not is_routable(clean_intent(paste))
    assert clean_intent(f"please look at this for me\n\n{paste}") == "please look at this for me"
    if "fence" not in paste and not paste.startswith(("~~~", "-----O")):
        assert clean_intent(f"{paste}\n\nwhat went wrong here?") == "what went wrong here?"


def test_a_letter_to_the_agent_is_a_request() -> None:
    """Who greets it by what it is called, and signs, asks for something all the same."""
    request = "Hi Claude,\nplease open an issue about the login.\nCheers\nAnn"
    assert "open an issue about the login" in clean_intent(request)
    assert not is_routable(clean_intent(request.replace("Claude", "Claudia")))


def test_an_answered_mail_does_not_count() -> None:
    """Behind words of one's own a mail's head begins what is answered, up to the end; at the start it is a paste."""
    mail = "From: Ann <a@b.c>\nSent: Monday\nTo: d@e.f\nSubject: docker\n\nThe container is down.\nRestart it."
    assert clean_intent(f"write her an answer\n\n{mail}") == "write her an answer"
    assert clean_intent(f"write her an answer\n{'_' * 32}\n{mail}") == "write her an answer"
    assert clean_intent(mail).startswith("The container is down.")


def test_of_an_address_the_encoded_parts_do_not_count() -> None:
    """What a page is called stays, its number goes."""
    number = "1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjK"
    assert clean_intent(f"read https://docs.example.org/document/{number}/edit to me") == (
        "read https://docs.example.org/document//edit to me"
    )


@pytest.mark.parametrize("blank", [" ", "\t", "- ", "| "])
def test_a_long_line_of_nothing_is_read_once(blank: str) -> None:
    """A megabyte of one line that no rule matches takes linear time."""
    assert by_lines(blank * 500_000 + "x").endswith("x")


@pytest.mark.parametrize(
    "text",
    [
        "find the code that retries with backoff: it is in utils",
        "TypeError in checkout.js since the release, look at sentry",
        "what is in /Users/anna/Projects/Acme2/backend/services/billing/module?",
        "read https://example.org/Handbook2/working-from-home/rules-and-forms/for-2026 to me",
        "remind me at 10:30 to call Ann",
        "buy milk, eggs, bread and call Bob",
        "run `df -h` on the box",
        "from now on, answer in German",
        "let Bob know that I am late",
        "import the csv into sqlite\nexport the result as xlsx",
        "let me know the weather in Paris\nlet my team know, too",
        "try the search again\nreturn only flights to Rome",
        "what does <T> mean in Rust?",
        "open https://example.org/some/quite/long/path/that-never-ends/index.html?x=1",
        "two things:\n- book a table\n- tell Ann",
        "Fatal error: unexpectedly found nil, what does that mean",
        "ValueError: could not convert string to float, please fix it",
        "Hi Claude,\nplease book a table for two.\nThanks!",
        "new event please\ntitle: dinner with Ann\nwhen: friday at seven",
        "tell them best regards from me",
    ],
)
def test_a_request_is_no_paste(text: str) -> None:
    """What a user types stays as it is, though it has a colon, a time, commas or an error's name."""
    assert clean_intent(text) == text


@given(st.text(alphabet='ab1 \n\t<>/`~-+=|{}[]":;,.@$#A', max_size=300))
def test_cleaning_only_leaves_out(text: str) -> None:
    """Whatever the message, what is left is no longer than it, and every line of it stood in it."""
    left = clean_intent(text)
    assert len(left) <= len(text)
    assert left == left.strip()


def test_of_a_long_message_the_ends_are_scored() -> None:
    """A request before or behind long prose is kept, and no more than the limit is scored."""
    prose = "it was a dark and stormy night and nothing much happened. " * 1000
    intent = clean_intent(f"summarise this: {prose} and mail it to Ann")
    assert len(intent) <= MAX_INTENT_CHARS + 1
    assert intent.startswith("summarise this:")
    assert intent.endswith("mail it to Ann")


def test_octominds_gate_keeps_what_was_pasted() -> None:
    """With `pasted` XML blocks alone are dropped."""
    assert clean_intent("<a>x</a>```\ncode\n```", pasted=True) == "```\ncode\n```"


MARKS = (
    "please show", "the log of it", "Ärger", "x", " ", "  ", "\t", "\n", "\u2028", "```", "~~~", "-----BEGIN KEY-----",
    "diff --git a b", "--- a/x", "@@ -1 +1 @@", "---- Original Message ----", "Traceback (most recent call last)",
    'File "x", line 3', "panic: ", "On Monday Jo wrote:", "Am Montag schrieb Jo:", "From: x", "2024-01-02 03:04:05",
    "Jan 12 03:04:05 ", "INFO ", "ERROR: ", "I0102 03:04:05", "h - - [01/Jan/2024:", "{}", "[1]", ":", ">", "$ ",
    "Hi Ann,", "Best regards", "Fatal error: ", "E: ", "npm ERR! ", "x-id: y", "A:b", "ValueError: ", "(core dumped)",
    "a1B" * 16, "deadbeef" * 6, "data:text/plain;base64,", "a,b,c", "|", "=",
)  # fmt: skip


@given(st.lists(st.sampled_from(MARKS), max_size=6).map("".join) | st.text())
def test_a_line_of_words_is_as_it_would_be_judged_by_lines(text: str) -> None:
    """What is kept at once, since it is a line of words, is what judging it by every rule would keep."""
    assert strip_pasted(text) == by_lines(text)
