"""The page's parts as HTML: whose it is, the agent, its clients' sessions, its last calls, its tools."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from octoc_serve.page.look import AgentLook, Asked, SessionLook, ToolLook
from octoc_serve.page.markup import Child, Markup, document, tag, verbatim
from octoc_serve.page.routing import MAX_MESSAGE_CHARS, Routed, outcome
from octoc_serve.page.tables import counted, duration, facts, listed, names, table, time_of

if TYPE_CHECKING:
    from octoc_serve.recent_calls import RecentCall

MOST_SESSIONS = 100
_PARTS = (("routing", "Routing"), ("sessions", "Sessions"), ("calls", "Calls"), ("tools", "Tools"))


def signing_in(problem: str | None = None) -> bytes:
    """Return the page that asks for a token."""
    main = tag(
        "main",
        tag("h1", "Sign in"),
        tag("p", "This gateway shows each token what its agent has, and nothing else."),
        None if problem is None else tag("p", problem, class_="problem", role="alert", id="problem"),
        tag(
            "form",
            # What a password manager keeps the token under.
            tag("input", type="text", name="username", value="octoc", autocomplete="username", hidden=True),
            tag("label", "Token", for_="token"),
            tag(
                "input",
                id="token",
                name="token",
                type="password",
                required=True,
                autocomplete="current-password",
                spellcheck="false",
                autocapitalize="none",
                aria_describedby="token-hint" if problem is None else "problem token-hint",
                aria_invalid=None if problem is None else "true",
            ),
            tag(
                "p",
                "Printed, once, by ",
                tag("code", "octoc serve token add"),
                ".",
                id="token-hint",
                class_="hint",
            ),
            tag("button", "Sign in"),
            method="post",
            action="/page/sign-in",
        ),
        id="main",
        class_="narrow",
    )
    return document("Sign in · octoc serve", tag("header", tag("p", "octoc serve", class_="brand")), main)


def saying(title: str, *text: Child) -> bytes:
    """Return a page that says one thing."""
    back = tag("p", tag("a", "To the agent", href="/"))
    return document(f"{title} · octoc serve", tag("main", tag("h1", title), tag("p", text), back, class_="narrow"))


def showing(
    agent: AgentLook,
    agents: Sequence[str],
    *,
    signed_in: bool,
    asked: Asked,
    routed: Routed | None,
    message: str,
) -> bytes:
    """Return the page of an agent; `agents` are those to choose from, `asked` says which tools it has here."""
    main = tag(
        "main",
        tag("h1", tag("bdi", agent.name)),
        tag("p", agent.description, class_="lede") if agent.description else None,
        _facts(agent),
        _routing(agent, routed, message),
        _sessions(agent),
        _calls(agent.calls),
        _tools(agent, asked),
        id="main",
        tabindex="-1",
    )
    title = f"{agent.name} · octoc serve" if routed is None else f"Routing · {agent.name} · octoc serve"
    now = dt.datetime.now(dt.UTC)
    footer = tag("footer", tag("p", "As of ", time_of(now), " UTC. ", tag("a", "Look again", href=_to(agent.name))))
    skip = tag("a", "Skip to content", href="#main", class_="skip")
    return document(title, skip, _header(agent, agents, signed_in=signed_in), main, footer)


def _header(agent: AgentLook, agents: Sequence[str], *, signed_in: bool) -> Markup:
    links = (tag("li", tag("a", title, href=f"#{part}")) for part, title in _PARTS)
    choose = sign_out = None
    if len(agents) > 1:
        options = (tag("option", name, value=name, selected=name == agent.name) for name in agents)
        choose = tag(
            "form",
            tag("label", "Agent", for_="agent"),
            tag("select", options, id="agent", name="agent"),
            tag("button", "Show", class_="quiet"),
            method="get",
            action="/",
            class_="inline",
        )
    if signed_in:
        sign_out = tag(
            "form", tag("button", "Sign out", class_="quiet"), method="post", action="/page/sign-out", class_="inline"
        )
    return tag(
        "header",
        tag("p", "octoc serve", class_="brand"),
        tag("nav", tag("ul", links), aria_label="On this page"),
        choose,
        sign_out,
    )


def _facts(agent: AgentLook) -> Markup:
    pairs: list[tuple[str, Child]] = []
    if agent.tenant is not None:
        pairs.append(("Tenant", tag("bdi", agent.tenant)))
    if agent.type:
        pairs.append(("Type", tag("bdi", agent.type)))
    if agent.model:
        pairs.append(("Model", tag("bdi", agent.model)))
    pairs.append(("Tools it reaches", f"{agent.known:,}"))
    tokens = f"{counted(agent.prompt_tools, 'tool')}, {agent.prompt_tokens:,} tokens"
    pairs.append(("In a new client’s prompt", tokens))
    if agent.boot:
        pairs.append(("From the start", names(agent.boot)))
    return facts(pairs)


def _routing(agent: AgentLook, routed: Routed | None, message: str) -> Markup:
    hint = "Says what it would activate for a new client. Nothing is activated, and nothing is kept of it."
    form = tag(
        "form",
        tag("label", "A user’s message", for_="message"),
        # The first line feed of a textarea is not part of its value.
        tag(
            "textarea",
            verbatim(f"\n{message}"),
            id="message",
            name="message",
            rows="3",
            required=True,
            maxlength=str(MAX_MESSAGE_CHARS),
            aria_describedby="message-hint",
        ),
        tag("p", hint, id="message-hint", class_="hint"),
        tag("button", "Route"),
        method="post",
        action=f"{_to(agent.name)}#routing",
    )
    if agent.capabilities:
        listed = (
            tag("div", tag("dt", tag("bdi", name)), tag("dd", text or "no description"))
            for name, text in agent.capabilities.items()
        )
        summary = tag("summary", f"{counted(len(agent.capabilities), 'capability')} to choose from")
        capabilities = tag("details", summary, tag("dl", listed, class_="list"))
    else:
        capabilities = tag("p", "This agent has no capability that a message could activate.", class_="empty")
    return _section("routing", "Routing", form, None if routed is None else outcome(routed), capabilities)


def _sessions(agent: AgentLook) -> Markup:
    if not agent.sessions:
        connects = tag("code", "octoc serve --transport http --print-config claude")
        said = tag(
            "p", "No client of this agent is connected. ", connects, " prints what connects one.", class_="empty"
        )
        return _section("sessions", "Sessions", said)
    latest = list(reversed(agent.sessions))[:MOST_SESSIONS]
    caption = "; ".join(
        (
            counted(len(agent.sessions), "client session"),
            f"each has at most {counted(agent.max_active, 'capability')} active.",
        )
    )
    if len(latest) < len(agent.sessions):
        caption += f" The latest {len(latest)} are shown."
    columns = ("Session", "Active capabilities", "Skills in use", "Tools shown", "Under way")
    return _section("sessions", "Sessions", table(caption, columns, map(_session_row, latest), columns[3:]))


def _session_row(session: SessionLook) -> list[Child]:
    pinned = frozenset(session.pinned)
    active = [[tag("bdi", name), " (pinned)" if name in pinned else None] for name in session.active]
    label = "of all clients" if session.label == "shared" else tag("code", session.label)
    return [label, listed(active) or "none", names(session.skills) or "none", session.shown, session.under_way]


def _calls(calls: Sequence[RecentCall]) -> Markup:
    if not calls:
        return _section("calls", "Calls", tag("p", "Nothing has been called yet.", class_="empty"))
    caption = f"The last {counted(len(calls), 'call')}, the latest first. Arguments and results are not kept."
    columns = ("Ended (UTC)", "Tool", "Took", "Outcome")
    return _section("calls", "Calls", table(caption, columns, map(_call_row, calls), columns[2:3]))


def _call_row(call: RecentCall) -> list[Child]:
    good = call.outcome == "ok"
    words = "ok" if good else "the tool’s own error" if call.outcome == "error" else call.outcome.replace("_", " ")
    return [
        time_of(dt.datetime.fromtimestamp(call.at, dt.UTC)),
        tag("code", call.tool) if call.tool else tag("em", "one that the agent does not have"),
        duration(call.seconds),
        tag("span", words, class_="good" if good else "bad"),
    ]


def _tools(agent: AgentLook, asked: Asked) -> Markup:
    search = tag(
        "form",
        tag("input", type="hidden", name="agent", value=agent.name),
        tag("label", "Words in a name or description", for_="words"),
        tag(
            "div",
            tag("input", id="words", name="words", type="search", value=asked.words),
            tag("button", "Filter"),
            class_="beside",
        ),
        method="get",
        action="/#tools",
        role="search",
    )
    said = f"{counted(agent.found, 'tool')}{' with these words' if asked.words else ''}"
    if len(agent.tools) < agent.found:
        said += f", {asked.start + 1:,} to {asked.start + len(agent.tools):,} of them here" if agent.tools else ""
    groups = [
        _group(server, tuple(tools)) for server, tools in itertools.groupby(agent.tools, key=lambda tool: tool.server)
    ]
    told = f"Tokens are counted by “{agent.counter}”, of each tool as a model’s API gets it."
    waiting = (
        tag("p", "Not known before they are connected: the tools of ", names(agent.waiting), ".", class_="empty")
        if agent.waiting
        else None
    )
    pages = _pages(agent, asked)
    return _section("tools", "Tools", search, tag("p", f"{said}. {told}", class_="hint"), groups, waiting, pages)


def _group(server: str, tools: Sequence[ToolLook]) -> Markup:
    return tag("section", tag("h3", tag("bdi", server)), map(_tool, tools), class_="server")


def _tool(tool: ToolLook) -> Markup:
    summary = tag(
        "summary",
        tag("code", tool.alias, class_="tool"),
        tag("span", tool.how, class_="how"),
        tag("span", f"{tool.tokens:,} tokens", class_="tokens"),
    )
    description = (
        tag("p", tool.description, class_="text", dir="auto")
        if tool.description
        else tag("p", "no description", class_="empty")
    )
    usual = tool.alias in {tool.name, f"{tool.server}__{tool.name}"}
    identity = None if usual else tag("p", "Its server calls it ", tag("code", tool.name), ".", class_="hint")
    return tag(
        "details",
        summary,
        description,
        identity,
        tag("h4", "Arguments"),
        tag("pre", tag("code", tool.schema)),
        class_="tool-box",
    )


def _pages(agent: AgentLook, asked: Asked) -> Markup | None:
    links = []
    before, after = max(0, asked.start - asked.most), asked.start + asked.most
    if asked.start > 0:
        links.append(tag("a", "Earlier tools", href=_to(agent.name, asked.words, before), rel="prev"))
    if after < agent.found:
        links.append(tag("a", "Further tools", href=_to(agent.name, asked.words, after), rel="next"))
    return tag("nav", links, aria_label="Pages of tools", class_="pages") if links else None


def _to(agent: str, words: str = "", start: int = 0) -> str:
    asked: dict[str, str | int] = {"agent": agent}
    if words:
        asked["words"] = words
    if start:
        asked["start"] = start
    return f"/?{urlencode(asked, errors='replace')}{'#tools' if words or start else ''}"


def _section(name: str, title: str, *children: Child) -> Markup:
    return tag("section", tag("h2", title, id=f"{name}-title"), children, id=name, aria_labelledby=f"{name}-title")
