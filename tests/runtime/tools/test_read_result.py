"""`read_result`: every character of a result can be reached, page by page, by the session that got it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.bundle.model import ResultSettings, Settings
from octoc.results import ContentPart, ToolFailure, ToolResult
from octoc.runtime import Session
from octoc.runtime.lifecycle import begin_session
from octoc.runtime.results.json_cut import parse_container
from octoc.runtime.results.parts import MAX_NOTICE_CHARS
from octoc.runtime.tools.read_result import BadRequestError, json_page, resolve, text_page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtime.conftest import Fleet

SCALARS = st.none() | st.booleans() | st.integers(-999, 999) | st.text('aé"\n🙂', max_size=30)
KEYS = st.text("ab/~", max_size=4)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=30
)
LONG = {"items": [{"id": number, "name": f"item {number}"} for number in range(100)], "note": "n" * 3000}


@given(st.text(max_size=200), st.integers(1, 50))
def test_pages_of_a_text_are_the_text(text: str, limit: int) -> None:
    """One page after another, by the next offset, gives the text again, no page over its limit."""
    pages, offset = [], 0
    while True:
        page = text_page(text, offset, limit)
        assert len(page.text) <= limit
        pages.append(page.text)
        offset = page.end
        if offset >= page.total:
            break
    assert "".join(pages) == text


def test_half_a_character_of_a_string_is_replaced() -> None:
    """A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD, and the characters after it keep their offsets."""
    page = json_page({"a": "half \ud83d, whole"}, "/a", 5, 3)
    assert (page.text, page.end, page.total) == ("\ufffd, ", 8, 13)


def _read_all(value: Any, pointer: str, limit: int) -> Any:
    """Put a value together from pages, going down by the pointer wherever a child came cut."""
    found = resolve(value, pointer)
    if isinstance(found, str):
        return "".join(json_page(value, pointer, offset, limit).text for offset in range(0, len(found) or 1, limit))
    if not isinstance(found, (dict, list)):
        text, page = "", None
        while page is None or page.end < page.total:
            page = json_page(value, pointer, 0 if page is None else page.end, limit)
            text += page.text
        return json.loads(text)
    everything: list[Any] = []
    offset = 0
    keys = list(found) if isinstance(found, dict) else []
    while True:
        page = json_page(value, pointer, offset, limit)
        assert len(page.text) <= max(limit, 2)
        shown = json.loads(page.text)
        whole = list(shown.items()) if isinstance(shown, dict) else shown
        if page.cut is not None:
            child = _read_all(value, page.cut, limit)
            assert page.end == offset + 1
            whole = [(keys[offset], child) if keys else child]
        everything += whole
        offset = page.end
        if offset >= page.total:
            break
    return dict(everything) if isinstance(found, dict) else everything


@given(JSON.filter(lambda value: isinstance(value, (dict, list))), st.integers(1, 60))
def test_pointers_reach_every_leaf(value: Any, limit: int) -> None:
    """Paging a container, and going down where a child is cut, finds all that the original has."""
    parsed = parse_container(json.dumps(value))
    assert _read_all(parsed, "", limit) == value


@pytest.mark.parametrize(
    "pointer, message",
    [
        ("items", '`items` is not a JSON pointer: expected "" or one that begins with "/"'),
        ("/itens", "`/itens` leads nowhere: no `itens` among `items`, `note` keys"),
        ("/items/100", "`/items/100` leads nowhere: `100` is not an index of 100 items"),
        ("/items/-", "`/items/-` leads nowhere: `-` is not an index of 100 items"),
        ("/note/0", "`/note/0` leads nowhere: there is nothing below a string or number"),
    ],
)
def test_a_pointer_that_leads_nowhere_says_what_there_is(pointer: str, message: str) -> None:
    """A wrong pointer is answered with what stands where it went wrong."""
    with pytest.raises(BadRequestError, match=f"^{re.escape(message)}$"):
        resolve(LONG, pointer)


def test_pointers_unescape() -> None:
    """`~1` is a slash and `~0` a tilde."""
    assert resolve({"a/b": {"~1": 5}}, "/a~1b/~01") == 5


async def _long(arguments: Mapping[str, Any]) -> ToolResult:
    link = ContentPart(type="resource_link", data={"type": "resource_link", "uri": "file:///é"})
    return ToolResult(content=(*ToolResult.of_text(json.dumps(LONG)).content, link), structured=LONG)


@pytest.fixture
def session(fleet: Fleet) -> Session:
    """A session with one tool whose result is over the limit."""
    fleet.settings = Settings(results=ResultSettings(max_chars=600))
    fleet.server("s", {"long": _long})
    fleet.agent(direct=(0,))
    return fleet.open().session()


def _call(session: Session, name: str, **arguments: Any) -> ToolResult | ToolFailure:
    return asyncio.run(session.call(name, arguments))


def _read(session: Session, **arguments: Any) -> tuple[str, str]:
    outcome = _call(session, "read_result", **arguments)
    assert isinstance(outcome, ToolResult)
    page, notice = outcome.content
    assert page.text is not None
    assert notice.text is not None
    assert len(notice.text) <= MAX_NOTICE_CHARS
    return page.text, notice.text


def _handle(session: Session) -> str:
    outcome = _call(session, "s__long")
    assert isinstance(outcome, ToolResult)
    assert outcome.handle is not None
    assert f'read_result(handle="{outcome.handle}"' in outcome.text
    return outcome.handle


def test_a_session_reads_all_that_was_left_out(session: Session) -> None:
    """Following the notices from the first page on gives every part of the result, structured content last."""
    handle = _handle(session)
    parts: dict[int, str] = {}
    where: dict[str, int] = {}
    while True:
        page, notice = _read(session, handle=handle, **where)
        assert len(page) <= 600
        parts[where.get("part", 0)] = parts.get(where.get("part", 0), "") + page
        following = re.search(r"read_result\(handle=\"[^\"]+\"(?:, part=(\d+))?(?:, offset=(\d+))?\)", notice)
        if following is None:
            assert notice.endswith("; end]")
            break
        where = {name: int(value) for name, value in zip(("part", "offset"), following.groups(), strict=True) if value}
    assert parts[0] == json.dumps(LONG)
    assert json.loads(parts[1]) == {"type": "resource_link", "uri": "file:///é"}
    assert json.loads(parts[2]) == LONG


def test_a_pointer_reads_a_part_of_json(session: Session) -> None:
    """The call that a notice writes gives the next items, whole, and says where the ones after them are."""
    handle = _handle(session)
    page, notice = _read(session, handle=handle, json_pointer="/items", offset=98)
    assert json.loads(page) == LONG["items"][98:]
    assert notice == "[octoc: part 0 of 3 (from 0), items 98 to 100 of 100; end]"
    page, notice = _read(session, handle=handle, json_pointer="/items", limit=70)
    assert json.loads(page) == LONG["items"][:2]
    assert notice == (
        "[octoc: part 0 of 3 (from 0), items 0 to 2 of 100; "
        f'read_result(handle="{handle}", json_pointer="/items", offset=2) continues]'
    )
    page, notice = _read(session, handle=handle, json_pointer="", offset=1, limit=50)
    assert page == '{"note":"' + "n" * 38 + '…"}'
    assert notice == (
        '[octoc: part 0 of 3 (from 0), members 1 to 2 of 2; the last is cut: json_pointer="/note" reads it; end]'
    )
    assert _read(session, handle=handle, json_pointer="/note", offset=2990)[0] == "n" * 10


def test_a_pages_tokens_are_limited_too(fleet: Fleet) -> None:
    """With a limit in tokens no page has more of them, and paging goes on."""
    fleet.settings = Settings(results=ResultSettings(max_chars=600, max_tokens=50))
    fleet.server("s", {"long": _long})
    fleet.agent(direct=(0,))
    session = fleet.open().session()
    page, _ = _read(session, handle=_handle(session))
    assert 150 < len(page) <= 203


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "handle is required: the notice of a result that was cut has it"),
        ({"handle": "r-x"}, "nothing is kept under handle `r-x`, or no more: call the tool that gave it again"),
        ({"part": 3}, "there is no part 3: the result has 3 (from 0)"),
        ({"part": -1}, "part must be a number from 0 on"),
        ({"offset": "5"}, "offset must be a number from 0 on"),
        ({"offset": 999999}, "offset 999,999 is after the end: the text has 6,103 characters"),
        ({"json_pointer": 5}, "json_pointer must be a string"),
        ({"json_pointer": "/items", "offset": 101}, "offset 101 is after the end: there are 100 items"),
    ],
)
def test_a_wrong_question_gets_an_answer_that_helps(session: Session, arguments: dict[str, Any], message: str) -> None:
    """What was asked for and is not there is a failure that says what is."""
    given = {"handle": _handle(session), **arguments} if arguments else {}
    outcome = _call(session, "read_result", **given)
    assert isinstance(outcome, ToolFailure)
    kind = "unavailable" if message.startswith("nothing is kept") else "bad_request"
    assert (outcome.kind, outcome.message) == (kind, message)


def test_another_sessions_handle_is_as_unknown_as_any(session: Session) -> None:
    """The answers to another session's handle, an invented one and an expired one are the same."""
    handle = _handle(session)
    other = Session(begin_session(session.state.runtime, session.agent, session.caller))
    answers = [_call(other, "read_result", handle=wrong).text.replace(wrong, "") for wrong in (handle, "r-none")]
    assert answers[0] == answers[1]
    assert _read(session, handle=handle)
    asyncio.run(session.close())
    assert _call(session, "read_result", handle=handle).text.replace(handle, "") == answers[0]


def test_a_text_part_is_not_read_by_pointer(session: Session) -> None:
    """A pointer into a part that is not an array or object fails and names the way to read it."""
    handle = session.state.runtime.results.keep(session.state.number, "plain text")
    outcome = _call(session, "read_result", handle=handle, json_pointer="")
    assert isinstance(outcome, ToolFailure)
    assert outcome.message == "part 0 is not a JSON array or object: read it by offset, without json_pointer"


@pytest.mark.parametrize(
    "results, shown",
    [
        (ResultSettings(), True),
        (ResultSettings(store_memory_bytes=0, store_disk_bytes=0), False),
        (ResultSettings(profile="octo"), False),
        (ResultSettings(profile="octopus"), False),
    ],
)
def test_the_tool_joins_at_the_end_after_a_cut_or_never(fleet: Fleet, results: ResultSettings, shown: bool) -> None:
    """An agent with its tools bound pays for `read_result` once something was cut, and only in profile `octoc`."""
    fleet.settings = Settings(results=attrs.evolve(results, max_chars=600))
    fleet.server("s", {"long": _long})
    fleet.agent(direct=(0,))
    session = fleet.open().session()
    before = session.tools()
    assert [tool["name"] for tool in before] == ["s__long"]
    _call(session, "s__long")
    after = session.tools()
    assert after[:1] == before
    assert [tool["name"] for tool in after[1:]] == ["read_result"] * shown


def test_an_agent_that_searches_has_the_tool_from_the_start(fleet: Fleet) -> None:
    """A cut then changes no byte of its block, which a provider may have cached."""
    fleet.settings = Settings(results=ResultSettings(max_chars=600))
    fleet.server("s", {"long": _long})
    fleet.agent(proxy=True)
    session = fleet.open().session()
    before = json.dumps(session.tools())
    assert "read_result" in [tool["name"] for tool in session.tools()]
    _call(session, "call_mcp_tool", tool_name="s__long", arguments={})
    assert json.dumps(session.tools()) == before


def test_an_agent_without_tools_has_nothing_to_read(fleet: Fleet) -> None:
    """`tools: []` stays an empty block."""
    fleet.settings = Settings()
    fleet.agent(tools=())
    assert fleet.open().session().tools() == []


def test_a_host_reads_what_a_foreign_profile_left_out(fleet: Fleet) -> None:
    """In profile `octo` the host has the handle, and a call with it answers."""
    fleet.settings = Settings(results=ResultSettings(profile="octo", max_chars=600))
    fleet.server("s", {"long": _long})
    fleet.agent(direct=(0,))
    session = fleet.open().session()
    outcome = _call(session, "s__long")
    assert isinstance(outcome, ToolResult)
    page, _ = _read(session, handle=outcome.handle, offset=600)
    assert page == json.dumps(LONG)[600:1200]


def test_a_runtime_that_is_closed_leaves_no_file(fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was kept on disk goes when the runtime is closed."""
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    fleet.settings = Settings(results=ResultSettings(max_chars=600, store_memory_bytes=0))
    fleet.server("s", {"long": _long})
    fleet.agent(direct=(0,))

    async def use() -> tuple[int, int]:
        async with fleet.open() as runtime:
            session = runtime.session()
            await session.call("s__long")
            return len(list(folder.glob("*/*"))), runtime.state.results.memory.used

    assert asyncio.run(use()) == (1, 0)
    assert list(folder.iterdir()) == []
