"""Pages that plugins add to the gateway of `octoc serve`, and what a page may read of the gateway.

A page gets no runtime, no session store and no token file. It reads through `PageAccess`, which checks the visitor's
token at each use and answers with plain values of the agents which that token is for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import attrs

if TYPE_CHECKING:
    from octoc.results import FailureKind
    from octoc.routing.explain import Explanation

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI application, such as one of Starlette."""

Access = Literal["token", "sign-in"]
AGENTS = "octoc.agents"
"""Key in the ASGI scope of a page with the access `token`: the visitor's `tuple[AgentAccess, ...]`, never empty."""


@attrs.frozen(kw_only=True)
class ToolFilter:
    """Tools that have each of `words` in a name or the description: at most `limit` of them, from `start` on."""

    words: str = ""
    start: int = 0
    limit: int = 100

    def matches(self, server: str, name: str, *texts: str) -> bool:
        """Return whether a tool has all words."""
        text = f"{server}/{name} {' '.join(texts)}".casefold() if self.words else ""
        return all(word in text for word in self.words.casefold().split())


@attrs.frozen(kw_only=True)
class ToolView:
    """A tool. `name` is the server's name for it, `alias` the model's; `reach` says in a few words how to reach it."""

    server: str
    name: str
    alias: str
    description: str
    reach: str
    tokens: int
    schema: str


@attrs.frozen(kw_only=True)
class ClientView:
    """A client's session. `label` is a digest of the session's id, since only its client may know the id."""

    label: str
    active: tuple[str, ...]
    kept: tuple[str, ...]
    skills: tuple[str, ...]
    tools: int
    running_calls: int


@attrs.frozen(kw_only=True)
class RecentCall:
    """A call that ended at the Unix time `at`. The outcome `error` is the tool's own.

    Args:
        tool: the model's name for it; empty if the agent has no such tool, since a client may send any name.
        why: why the client could make the call, in a few words: how the agent reaches the tool.
        client: the label of the client's session, as in `ClientView`.
    """

    tool: str
    at: float
    seconds: float
    outcome: FailureKind | Literal["ok", "error"]
    why: str = ""
    client: str = ""


@attrs.frozen(kw_only=True)
class CallTotals:
    """Calls since the gateway started, of one tool, or with an empty `tool` of those that the agent does not have.

    `errors` did not end well; `p50_s` and `p95_s` are seconds, exact to 5 %, and 0 without a call.
    """

    tool: str
    calls: int
    errors: int
    p50_s: float
    p95_s: float


@attrs.frozen(kw_only=True)
class BackendView:
    """The state of a server of the agent, as `octoc.runtime.ServerHealth` has it; `tools` are those of the agent."""

    server: str
    state: Literal["up", "idle", "starting", "failing", "paused", "missing-variable", "unbound"]
    tools: int
    connections: int
    last_failure: FailureKind | None
    retry_s: float
    missing: tuple[str, ...]


@attrs.frozen(kw_only=True)
class AgentSummary:
    """An agent in one line. `tools` are all that it reaches, the others those of a new client's prompt."""

    name: str
    tools: int
    prompt_tools: int
    prompt_tokens: int
    calls: int
    errors: int


@attrs.frozen(kw_only=True)
class AgentOverview:
    """An agent as its clients have it.

    Args:
        tools: one section of the tools that match the filter, octoc's own first, then by server.
        matching: how many tools match the filter; `total` is how many tools the agent's registry has.
        unconnected: servers whose tools are unknown until they are connected.
        capabilities: name -> description for those that a message may activate; `boot` are active from the start.
        prompt_tools, prompt_tokens: for the tool list of a new client, octoc's own tools included.
        all_tokens: for the agent's tools if all of them were in the prompt.
        counter: name of the token counter.
        backends: the servers that the agent may use, by name.
        totals: of all calls of the token and agent; `by_tool` of each tool, the most called first.
    """

    name: str
    tenant: str | None
    description: str
    type: str
    model: str
    tools: tuple[ToolView, ...]
    matching: int
    total: int
    unconnected: tuple[str, ...]
    capabilities: Mapping[str, str]
    boot: tuple[str, ...]
    max_active: int
    prompt_tools: int
    prompt_tokens: int
    all_tokens: int
    counter: str
    backends: tuple[BackendView, ...]
    totals: CallTotals
    by_tool: tuple[CallTotals, ...]
    clients: tuple[ClientView, ...]
    calls: tuple[RecentCall, ...]


@attrs.frozen(kw_only=True)
class RoutedMessage:
    """A message and where a new client's session would route it.

    Args:
        activates: capabilities that the message would activate.
        scores: capability -> score in the gate's own unit, the highest first.
        background: probability that the message is for no capability.
        threshold: score that the best capability has to reach; `margin` is its least distance to the second.
        reason: why, in one line; its first word is a `Reason` of `octoc.routing.decision`.
        intent: the message as it was scored.
        method: `vectors`, or `words` without an encoder.
        gate: kind of the gate, and its profile; empty if the bundle has none.
        explanation: None if the bundle has no gate.
    """

    message: str
    activates: tuple[str, ...]
    scores: Mapping[str, float]
    background: float
    threshold: float
    margin: float
    reason: str
    intent: str
    method: Literal["vectors", "words"]
    gate: str
    explanation: Explanation | None


@attrs.frozen(kw_only=True)
class ToolGroupView:
    """A tool group of an agent. `area` is None for a global one; `tools` are those that the agent has of it, by id."""

    name: str
    description: str
    area: str | None
    tools: tuple[str, ...]


@attrs.frozen(kw_only=True)
class AgentGroups:
    """The tool groups of an agent, and its areas, each with the file of the workspace that declares it."""

    groups: tuple[ToolGroupView, ...]
    areas: Mapping[str, str]


class AgentAccess(Protocol):
    """One agent, for one token and tenant. Each method checks again that the token is still good for the agent."""

    @property
    def name(self) -> str: ...

    async def overview(self, tools: ToolFilter) -> AgentOverview:
        """Return the agent as its clients have it. Raises: LookupError if the token is revoked, BundleFileError."""
        ...

    async def summary(self) -> AgentSummary:
        """Return the agent in one line. Raises: as `overview`."""
        ...

    async def tool_groups(self) -> AgentGroups:
        """Return the agent's tool groups and areas. Raises: as `overview`."""
        ...

    async def route(self, message: str) -> RoutedMessage:
        """Return where a new client's message would go; nothing is activated or kept. Raises: as `overview`."""
        ...


class PageAccess(Protocol):
    """What a page may read of the gateway."""

    def agents(self, token: str | None) -> tuple[AgentAccess, ...]:
        """Return the agents that a visitor with `token` may see; empty means that the visitor may see nothing.

        None is a visitor without a token, who sees the served agents where the gateway needs no tokens.
        """
        ...


def _check_prefix(_: object, __: object, prefix: str) -> None:
    if not (prefix.startswith("/") and prefix.endswith("/")):
        raise ValueError(f"prefix `{prefix}`: expected a path that starts and ends with `/`")


def _check_access(_: object, __: object, access: str) -> None:
    if access not in get_args(Access):
        raise ValueError(f"access `{access}`: expected `token` or `sign-in`")


@attrs.frozen(kw_only=True)
class WebPage:
    """An application that answers all paths below a prefix of the gateway over HTTP.

    The gateway refuses foreign hosts and origins first, and its own paths (MCP, probes) never reach a page.

    Args:
        prefix: starts and ends with `/`; the longest prefix of a path wins. The path in the scope stays whole.
        make: returns the application; called once, when the gateway starts.
        access: `token`: the gateway answers 401 to a visitor who may see no agent, before the page is called, and
            leaves the visitor's agents in the scope (`AGENTS`). `sign-in`: the page also gets visitors without a token,
            and asks them for one; it can read nothing until `PageAccess.agents` accepts that token.
    """

    prefix: str = attrs.field(validator=_check_prefix)
    make: Callable[[PageAccess], Application]
    access: Access = attrs.field(default="token", validator=_check_access)
