"""The page in a browser without scripts: its visitors, what it shows each of them, and what it never shows."""

from __future__ import annotations

import hashlib
import html
import http.client
import json
import re
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from email.message import Message
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.testing import FAULTY_STDIO, WorkspaceBuilder
from octoc_serve.tokens import Tokens

Serve = Callable[..., Any]
FORM = "application/x-www-form-urlencoded"
CALLED_WITH = "a-secret-argument"
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@attrs.define
class Visitor:
    """What keeps cookies and sends forms as a browser does; `ask` returns status, headers and text."""

    base: str
    cookies: dict[str, str] = attrs.field(factory=dict)

    def ask(
        self, path: str = "/", fields: dict[str, str] | None = None, *, method: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], str]:
        host = urllib.parse.urlsplit(self.base).netloc
        given = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if fields is not None:
            given |= {"Content-Type": FORM, "Origin": self.base}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(host, timeout=120)
        body = None if fields is None else urllib.parse.urlencode(fields)
        connection.request(method or ("GET" if fields is None else "POST"), path, body, given)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        got = {name.lower(): value for name, value in answer.getheaders()}
        if "set-cookie" in got:
            name, _, value = got["set-cookie"].partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer.status, got, text

    def sign_in(self, token: str) -> tuple[int, dict[str, str], str]:
        return self.ask("/page/sign-in", {"token": token})


def text_of(page: str) -> str:
    """Return what a page says, without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", " ", page))


def words_of(page: str) -> str:
    """Return what a page says, with single spaces."""
    return " ".join(text_of(page).split())


def part_of(page: str, first: str, end: str) -> str:
    """Return a page from one section up to another, by their ids."""
    return page[page.index(f'id="{first}"') : page.index(f'id="{end}"')]


Call = Callable[..., str]


@pytest.fixture
def call() -> Call:
    """A function that has a new MCP client call tools, (name, arguments) each, and returns its session's name."""

    def made(url: str, token: str | None, *calls: tuple[str, dict[str, Any]]) -> str:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        session = _post(url, {"id": 1, "method": "initialize", "params": INITIALIZE}, headers)["mcp-session-id"]
        headers |= {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
        for number, (name, arguments) in enumerate(calls, 2):
            params = {"name": name, "arguments": arguments}
            _post(url, {"id": number, "method": "tools/call", "params": params}, headers)
        return session

    return made


def _post(url: str, message: dict[str, Any], headers: dict[str, str]) -> Message:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:  # noqa: S310  # the loopback
        answer.read()
        got: Message = answer.headers
        return got


def test_without_tokens_the_page_shows_the_agent_and_its_tools_as_text(base: str) -> None:
    """What a server wrote is shown letter by letter, markup and scripts too, and no sign that only a terminal takes."""
    visitor = Visitor(base)
    status, headers, page = visitor.ask()
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    for name in ("supervisor", "plain__echo", "vault__open_sesame", "hostile__lure", "find_tools", "call_mcp_tool"):
        assert name in page
    assert "<script" not in page
    assert "<img" not in page
    assert "<style" not in page
    assert 'onerror="' not in page
    assert "\x1b" not in page
    assert "<script>document.title='owned'</script>" in html.unescape(page)
    assert Outline.of(page).unclosed == []


class Outline(HTMLParser):
    """The elements of a page, as a parser that forgives nothing sees them."""

    VOID = ("meta", "link", "input")

    def __init__(self) -> None:
        super().__init__()
        self.unclosed: list[str] = []
        self.inputs: list[dict[str, str | None]] = []
        self.labels: list[str | None] = []
        self.links: list[str | None] = []
        self.ids: list[str] = []
        self.headings: list[int] = []

    @classmethod
    def of(cls, page: str) -> Outline:
        made = cls()
        made.feed(page)
        made.close()
        return made

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in self.VOID:
            self.unclosed.append(tag)
        if tag in {"input", "textarea", "select"} and given.get("type") != "hidden" and "hidden" not in given:
            self.inputs.append(given)
        if tag == "label":
            self.labels.append(given.get("for"))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.links += [value for name, value in given.items() if name in {"href", "src", "action"}]
        self.ids += [given["id"] or ""] if "id" in given else []
        assert not any(name.startswith("on") or name == "style" for name in given)

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed.pop() == tag


def test_the_page_is_whole_by_itself(base: str) -> None:
    """Every field has a label, headings leave no level out, ids are unique, and nothing is asked of another host."""
    visitor = Visitor(base)
    for fields in (None, {"message": "will it rain tomorrow"}):
        outline = Outline.of(visitor.ask("/", fields)[2])
        assert {field["id"] for field in outline.inputs} == set(outline.labels)
        assert outline.headings[0] == 1
        assert all(after <= before + 1 for before, after in zip(outline.headings, outline.headings[1:], strict=False))
        assert outline.headings.count(1) == 1
        assert len(outline.ids) == len(set(outline.ids))
        assert all(link is not None and re.match(r"[/#](?!/)", link) for link in outline.links)
        assert {link[1:] for link in outline.links if link and link.startswith("#")} <= set(outline.ids)
    for path, kind in (("/page/page.css", "text/css; charset=utf-8"), ("/page/icon.svg", "image/svg+xml")):
        status, headers, text = visitor.ask(path)
        assert (status, headers["content-type"]) == (200, kind)
        assert "url(" not in text
        assert "@import" not in text


def test_every_answer_says_what_a_browser_may_do_with_it(serve: Serve, tokens: Tokens) -> None:
    """No script, no frame, no other host, nothing kept and nothing told to others; also where the page refuses."""
    tokens.add("clerk")
    visitor = Visitor(serve().base)
    answers = [
        visitor.ask(),
        visitor.ask("/page/page.css"),
        visitor.ask("/nowhere"),
        visitor.sign_in("octoc_wrong"),
        visitor.ask("/page/sign-in"),
    ]
    assert [status for status, _, _ in answers] == [200, 200, 404, 403, 405]
    for _, headers, _ in answers:
        policy = headers["content-security-policy"].split("; ")
        assert policy[0] == "default-src 'none'"
        assert {"frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "style-src 'self'"} <= set(policy)
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
    status, headers, text = visitor.ask(method="HEAD")
    assert (status, text) == (200, "")
    assert int(headers["content-length"]) > 0
    assert visitor.ask(method="DELETE")[0] == 405


def test_a_token_opens_its_own_agent_and_nothing_of_another(serve: Serve, call: Call, tokens: Tokens) -> None:
    """A clerk's page has no trace of what only the supervisor has: tools, capabilities, sessions, calls, the agent."""
    _, clerk = tokens.add("clerk", "acme")
    _, other_clerk = tokens.add("clerk", "globex")
    _, supervisor = tokens.add("supervisor")
    gateway = serve()
    call(gateway.url, supervisor, ("vault__open_sesame", {}))
    call(gateway.url, clerk, ("plain__echo", {}))
    everything, own, other = Visitor(gateway.base), Visitor(gateway.base), Visitor(gateway.base)
    for visitor, token in ((everything, supervisor), (own, clerk), (other, other_clerk)):
        status, headers, _ = visitor.sign_in(token)
        assert (status, headers["location"]) == (303, "/")
    assert "vault__open_sesame" in everything.ask()[2]
    pages = [
        own.ask()[2],
        own.ask("/?agent=clerk&words=vault")[2].replace('value="vault"', ""),
        own.ask("/", {"message": "will it rain tomorrow"})[2],
        own.ask("/?agent=supervisor")[2],
    ]
    for page in pages:
        for name in ("vault", "open_sesame", "lure", "hostile", "weather", "calendar", "supervisor", "globex"):
            assert name not in page
    assert "acme" in pages[0]
    assert "plain__echo" in pages[0]
    assert "plain__pid" not in pages[0]
    assert own.ask("/?agent=supervisor")[:1] == own.ask("/?agent=missing")[:1] == (404,)
    assert own.ask("/?agent=supervisor")[2] == own.ask("/?agent=missing")[2]
    assert "Nothing has been called yet." in other.ask()[2]
    assert "Nothing has been called yet." not in pages[0]


def test_sessions_and_calls_are_shown_without_what_was_said_in_them(serve: Serve, call: Call) -> None:
    """A call through the proxy is shown as the tool that it was of; arguments and unknown names are not.

    What a search has activated is shown under a name that is not the session's own.
    """
    gateway = serve()
    visitor = Visitor(gateway.base)
    assert "No client of this agent is connected." in visitor.ask()[2]
    given = {"text": CALLED_WITH}
    session = call(
        gateway.url,
        None,
        ("plain__echo", given),
        ("call_mcp_tool", {"tool_name": "plain/echo", "arguments": given}),
        (f"nothing_{CALLED_WITH}", {}),
        ("find_tools", {"query": "will it rain tomorrow"}),
    )
    page = _with_active(visitor, "weather")
    assert CALLED_WITH not in page
    assert session not in page
    totals, last = re.findall(
        r"<table>.*?</table>", page[page.index('id="calls"') : page.index('id="tools"')], re.DOTALL
    )
    label = hashlib.sha256(session.encode()).hexdigest()[:8]
    calls = words_of(last)
    made = rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d plain__echo by search {label} [\d.]+ m?s ok"
    assert len(re.findall(made, calls)) == 2
    assert f"find_tools octoc's own {label}" in calls
    assert "one that the agent does not have no" in calls
    assert "not found" in calls
    counted = words_of(totals)
    assert re.search(r" all 4 1 [\d.]+ m?s [\d.]+ m?s plain__echo 2 0 ", counted)
    sessions = text_of(part_of(page, "sessions", "calls"))
    assert "1 client session; each has at most" in sessions
    assert "weather" in sessions
    assert label in sessions


def _with_active(visitor: Visitor, capability: str) -> str:
    """Return the page as soon as the sessions show an active capability, whose server starts in the background."""
    page = ""
    for _ in range(600):
        page = visitor.ask()[2]
        if capability in part_of(page, "sessions", "calls"):
            break
        time.sleep(0.05)
    return page


def test_servers_are_shown_with_their_state(serve: Serve, call: Call, tmp_path: Path) -> None:
    """Servers that run, fail, lack a variable, have no tools, or were never connected differ."""
    workspace = WorkspaceBuilder(tmp_path / "states", runtime={"breaker_failures": 1, "breaker_seconds": 600})
    workspace.settings("servers", notes={"builtin": "notes"})
    workspace.server("plain", sys.executable, "-I", "-S", FAULTY_STDIO, "none").snapshot("plain", ["echo"])
    workspace.server("gone", "no-such-program-of-octoc").snapshot("gone", ["lost"])
    workspace.server("keyed", sys.executable, env={"K": "${OCTOC_TEST_KEY}"}).snapshot("keyed", ["open"])
    workspace.server("calm", sys.executable).snapshot("calm", ["rest"])
    workspace.server("unseen", "no-such-program-of-octoc")
    assert workspace.build().bundle is not None
    gateway = serve(workspace=workspace.root)
    call(gateway.url, None, ("plain__echo", {"text": "x"}), ("gone__lost", {}))
    page = Visitor(gateway.base).ask()[2]
    servers = words_of(part_of(page, "servers", "sessions"))
    assert "plain up 1" in servers
    assert re.search(r"gone breaker open for (600|599) s: connect failed 1", servers)
    assert "keyed missing variable: OCTOC_TEST_KEY 1" in servers
    assert "calm not connected; the next call connects it 1" in servers
    assert "notes no tools are bound to it 0" in servers
    assert re.search(r"unseen .* not known", servers)


def test_the_page_refreshes_itself_when_asked(base: str) -> None:
    """The link turns it on and off; an answer to a form is never loaded again by itself."""
    visitor = Visitor(base)
    page = visitor.ask()[2]
    assert 'http-equiv="refresh"' not in page
    (link,) = re.findall(r'<a href="([^"]*)">Refresh every 10 seconds</a>', page)
    again = visitor.ask(html.unescape(link))[2]
    assert '<meta http-equiv="refresh" content="10">' in again
    assert "Stop refreshing" in again
    assert 'http-equiv="refresh"' not in visitor.ask(html.unescape(link), {"message": "will it rain tomorrow"})[2]


def test_arguments_are_a_table(serve: Serve, tmp_path: Path) -> None:
    """Each argument has a row with its type, whether it is needed, and its description; the schema stays below."""
    properties = {
        "id": {"type": "integer", "description": "The number of the order"},
        "kind": {"enum": ["open", "paid"], "default": "open"},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    schema = {"type": "object", "properties": properties, "required": ["id"]}
    workspace = WorkspaceBuilder(tmp_path / "orders").server("orders", "true")
    workspace.snapshot("orders", [{"name": "find", "description": "Finds an order", "inputSchema": schema}])
    assert workspace.build().bundle is not None
    page = Visitor(serve(workspace=workspace.root).base).ask("/?words=orders")[2]
    rows = [
        " ".join(text_of(row).split())
        for row in re.findall(r"<tr>.*?</tr>", page[page.index('id="tools"') :], re.DOTALL)
    ]
    assert "id integer yes The number of the order" in rows
    assert 'kind one of "open", "paid" no Default: "open"' in rows
    assert "tags array of string no" in rows


def test_whatever_is_wrong_with_a_token_it_is_refused_in_the_same_words(serve: Serve, tokens: Tokens) -> None:
    """Unknown, for an agent that is not there, cut, empty and endless: one answer, and no cookie."""
    _, clerk = tokens.add("clerk")
    _, stranger = tokens.add("an-unknown-agent")
    gateway = serve()
    visitor = Visitor(gateway.base)
    status, _, page = visitor.ask()
    assert (status, "This token opens nothing here." in page) == (200, False)
    assert "clerk" not in page
    wrong = [visitor.sign_in(text) for text in ("octoc_wrong", stranger, clerk[:-1], " ", "x" * 5000)]
    assert {(status, page) for status, _, page in wrong} == {(403, wrong[0][2])}
    assert "This token opens nothing here." in wrong[0][2]
    assert all("set-cookie" not in headers for _, headers, _ in wrong)
    assert visitor.cookies == {}


def test_the_token_stays_with_the_gateway(serve: Serve, tokens: Tokens) -> None:
    """The cookie is another secret, for this host alone and no script; the token is in no address, page or log."""
    entry, token = tokens.add("clerk")
    gateway = serve()
    visitor = Visitor(gateway.base)
    status, headers, _ = visitor.sign_in(f"  {token}\n")
    assert status == 303
    assert token not in str(headers)
    attributes = headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(attributes)
    assert "Secure" not in attributes
    (name,) = visitor.cookies
    assert name == f"octoc-{gateway.base.rpartition(':')[2]}"
    status, _, page = visitor.ask()
    assert "plain__echo" in page
    assert token not in page
    assert Visitor(gateway.base, {name: "guessed"}).ask()[2] == Visitor(gateway.base).ask()[2]
    assert Visitor(gateway.base, {name: token}).ask()[2] == Visitor(gateway.base).ask()[2]
    again = Visitor(gateway.base, dict(visitor.cookies))
    assert visitor.ask("/page/sign-out", {})[0] == 303
    for visit in (visitor, again):
        assert "plain__echo" not in visit.ask()[2]
    visitor.sign_in(token)
    assert "plain__echo" in visitor.ask()[2]
    assert tokens.revoke(entry.id)
    gateway.process.send_signal(1)
    for _ in range(100):
        if "plain__echo" not in visitor.ask()[2]:
            break
    assert "plain__echo" not in visitor.ask()[2]
    assert token not in "".join(gateway.log)


def test_over_tls_the_cookie_is_for_tls_alone(serve: Serve, tokens: Tokens) -> None:
    """With a TLS proxy in front, which the browser's origin shows, the cookie is `Secure` and for this host only."""
    _, token = tokens.add("clerk")
    visitor = Visitor(serve("--allow-origin", "https://gateway.example").base)
    outside = {"Origin": "https://gateway.example", "Sec_Fetch_Site": "same-origin"}
    status, headers, _ = visitor.ask("/page/sign-in", {"token": token}, **outside)
    assert status == 303
    assert headers["set-cookie"].startswith("__Host-octoc-")
    assert headers["set-cookie"].endswith("; Secure")
    assert "plain__echo" in visitor.ask()[2]
    visitor.ask("/page/sign-out", {}, **outside)
    assert "plain__echo" not in visitor.ask()[2]


def test_an_agent_with_thousands_of_tools_is_shown_by_the_hundred(serve: Serve, tmp_path: Path) -> None:
    """A page has at most a hundred tools and says of how many; the links lead to all of them, with what was asked."""
    workspace = WorkspaceBuilder(tmp_path / "many").server("many", "true")
    workspace.snapshot("many", [f"tool_{number:03}" for number in range(250)])
    assert workspace.build().bundle is not None
    visitor = Visitor(serve(workspace=workspace.root).base)
    pages, path = [], "/?words=tool_"
    while path:
        pages.append(visitor.ask(path)[2])
        further = re.search(r'href="(/\?[^"#]*)[^"]*" rel="next"', pages[-1])
        path = html.unescape(further[1]) if further else ""
    assert [page.count('class="tool-box"') for page in pages] == [100, 100, 50]
    assert "250 tools with these words, 101 to 200 of them here" in pages[1]
    names = re.findall(r"many__tool_\d+", "".join(pages))
    assert sorted(set(names)) == [f"many__tool_{number:03}" for number in range(250)]


def test_forms_are_taken_from_the_gateways_own_pages_alone(base: str) -> None:
    """What another page, another port of this machine or no page at all sends is refused; the browser's word counts."""
    visitor = Visitor(base)
    fields = {"message": "will it rain tomorrow"}
    assert "Decision" in visitor.ask("/", fields)[2]
    assert "Decision" in visitor.ask("/", fields, Sec_Fetch_Site="same-origin")[2]
    foreign = [
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:9"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://[broken"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "cross-site"},
    ]
    for headers in foreign:
        status, _, page = visitor.ask("/", fields, **headers)
        assert (status, "Decision" in page) == (403, False)
    assert visitor.ask("/", fields, Content_Type="text/plain")[0] == 415
    assert visitor.ask("/", {"message": "x" * 70_000})[0] == 413
    assert visitor.ask("/", {f"f{number}": "" for number in range(30)})[0] == 400
    assert visitor.ask(f"/?{'&'.join(f'f{number}=' for number in range(30))}")[0] == 400


def test_routing_is_drawn_against_the_threshold_and_changes_nothing(base: str) -> None:
    """A message names the capability, every bar has its figure as text, and afterwards all is as it was."""
    visitor = Visitor(base)
    before = visitor.ask()[2]
    page = visitor.ask("/?agent=supervisor", {"message": "</textarea><script>1</script>\nwill it rain tomorrow"})[2]
    assert "<script" not in page
    said = text_of(page)
    assert re.search(r"Would activate\s+weather", said)
    assert re.search(r"the line is the threshold, 0\.\d\d", said)
    bars = re.findall(r'<li class="bar-row (\w+)">(.*?)</li>', page)
    assert [kind for kind, _ in bars].count("chosen") == 1
    lines = {x for _, bar in bars for x in re.findall(r'class="threshold" x1="([\d.]+)%"', bar)}
    assert len(lines) == 1
    for _, bar in bars:
        width = float(re.findall(r'class="score"[^>]* width="([\d.]+)%"', bar)[0])
        assert abs(width / 100 - float(re.findall(r"\d\.\d{3}", text_of(bar))[0])) < 0.001
    nothing = text_of(visitor.ask("/", {"message": "hm"})[2])
    assert "Would activate nothing" in nothing
    assert "too-short" in nothing
    clock = re.compile(r"<time.*?</time>")
    assert clock.sub("", visitor.ask()[2]) == clock.sub("", before)
    assert "No client of this agent is connected." in before


def test_tools_are_filtered_by_their_words(base: str) -> None:
    """Each word has to be in a name or the description; what was typed is shown as text."""
    visitor = Visitor(base)
    found = visitor.ask("/?words=OPEN+vault")[2]
    assert "vault__open_sesame" in found
    assert "plain__echo" not in found
    none = visitor.ask(f"/?words={urllib.parse.quote(chr(34) + '><b>none')}")[2]
    assert "0 tools with these words" in none
    assert "<b>" not in none
    assert visitor.ask("/?start=100000&words=%FF%00")[0] == 200


def test_one_of_several_agents_is_chosen(serve: Serve, base: str) -> None:
    """Without tokens, and with `--agents`, each agent that is served has its page, and all others are not there."""
    visitor = Visitor(serve("--agents", "all").base)
    assert "<h1><bdi>clerk</bdi></h1>" in visitor.ask("/?agent=clerk")[2]
    page = visitor.ask()[2]
    assert '<option value="clerk">clerk</option>' in page
    compared = words_of(part_of(page, "servers", "sessions"))
    assert re.search(r"All agents here.* supervisor \d+ \d+ [\d,]+ 0 0 .*clerk 1 \d+ \d+ 0 0", compared)
    assert {field["id"] for field in Outline.of(page).inputs} == set(Outline.of(page).labels)
    assert visitor.ask("/?agent=missing")[0] == 404
    alone = Visitor(base)
    assert "<select" not in alone.ask()[2]
    assert alone.ask("/?agent=clerk")[0] == 404
