"""What a plugin's objects must do. A plugin imports nothing of octoc but `octoc.plugin` and `octoc.results`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import attrs

from octoc.choices import AgentRole, ServerEra
from octoc.results import Caller

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from octoc.results import FailureKind, ListedTool, ServerListing, ToolCall, ToolFailure, ToolResult

    Vector = NDArray[np.float32]


class PluginError(Exception):
    """A plugin cannot do its work; the message says what is missing and what to do, without any secret."""


@runtime_checkable
class Embedder(Protocol):
    """A sentence encoder. The same text gives the same bits on one machine, whatever was encoded before."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str:
        """A digest of weights, vocabulary and method: equal identities make comparable vectors."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed(self, text: str) -> Vector:
        """Return the text's vector: shape (dimension,), float32, L2-normalised. Safe to call from several threads."""
        ...

    def files(self) -> Mapping[str, bytes]:
        """Return what another machine needs to make this embedder again, by plain file name."""
        ...


@runtime_checkable
class LanguageEmbedder(Embedder, Protocol):
    """An encoder of some languages. An encoder without `languages` covers every one."""

    @property
    def languages(self) -> frozenset[str]:
        """The languages and scripts that it covers, by the names of `octoc.routing.languages`."""
        ...


@runtime_checkable
class SecondEmbedder(LanguageEmbedder, Protocol):
    """An encoder for the languages that a workspace's own encoder does not cover; its vectors compare with those."""

    @property
    def space(self) -> str:
        """The identity of the encoder that its vectors compare with."""
        ...


@attrs.frozen(kw_only=True)
class ServerTarget:
    """A server with every reference resolved: what a transport connects to. What may be secret never shows in repr.

    `secrets` are the values that references were resolved to, wherever they stand: a transport cuts them, and every
    value of `env` and `headers`, out of its messages. `max_body_bytes` is the longest message or body that a
    transport reads, decompressed; None is the transport's own default (16 MiB, and 4 MiB for REST). `max_elements`
    is the most JSON elements of one; None is `MAX_ELEMENTS` of `octoc.json_limits`, and `MAX_LISTING_ELEMENTS` for
    a list of tools. `production` refuses what is only fit for development, as plain HTTP beyond loopback. `login`
    is what to do when the server refuses: "run `octoc auth login NAME`", or which references hold the wrong
    credential. `on_secret` gets each credential that a transport is given beside `secrets`, as an access token, to
    be kept out of messages. `era` is for transports of MCP.

    `renew` resolves the references again, for a request that the server refused with 401. It returns the target with
    the values of now, or None where they cannot be had, and never raises.
    """

    name: str
    transport: str
    command: str | None = attrs.field(default=None, repr=False)
    args: tuple[str, ...] = attrs.field(default=(), repr=False)
    env: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = attrs.field(default=None, repr=False)
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    auth: Mapping[str, Any] | None = attrs.field(default=None, repr=False)
    settings: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    secrets: tuple[str, ...] = attrs.field(default=(), repr=False)
    timeout_s: float = 30.0
    max_body_bytes: int | None = None
    max_elements: int | None = None
    era: ServerEra = "newest"
    production: bool = False
    login: str = ""
    on_secret: Callable[[str], None] | None = attrs.field(default=None, eq=False, repr=False)
    renew: Callable[[], Awaitable[ServerTarget | None]] | None = attrs.field(default=None, eq=False, repr=False)


@attrs.frozen(kw_only=True)
class Host:
    """What a host answers when a server asks something of it. Without a callback the server is declined at once.

    Each callback gets the server's name, and runs in the context (`contextvars`) of the call that the question belongs
    to: what the host set before `session.call` says who is to be asked. It is cancelled when that call has no caller
    any more. Only `roots` may also be asked for outside of calls, in an empty context. While the other callbacks run,
    their call does not count for `max_concurrent` of its server.

    `elicit` and `sample` get the request's parameters in MCP's wire form (camelCase) and return the result in it
    (`{"action": "accept", "content": {…}}`); `roots` returns the list of roots. `inputs` answers all requests that a
    server of the 2026-07-28 revision sends in the place of a result: name of each request -> its `method` and `params`,
    and returns name -> result; without it they go to the other three. `capabilities` returns what the caller of the
    current call can answer, as MCP's client capabilities, or None outside of calls. `tools_changed` is called when a
    server says that its list of tools, resources or prompts is another; it must not block.
    """

    elicit: Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]] | None = None
    sample: Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]] | None = None
    roots: Callable[[str], Awaitable[Sequence[Mapping[str, Any]]]] | None = None
    inputs: Callable[[str, Mapping[str, Mapping[str, Any]]], Awaitable[Mapping[str, Mapping[str, Any]]]] | None = None
    capabilities: Callable[[], Mapping[str, Any] | None] | None = None
    tools_changed: Callable[[str], None] | None = None


@runtime_checkable
class Connection(Protocol):
    """One live connection to a server, shared by concurrent calls from any task of one event loop."""

    @property
    def alive(self) -> bool:
        """False once the connection can carry no further call."""
        ...

    async def list_tools(self) -> ServerListing:
        """Return the server's tools, all pages. Raises: ConnectFailedError."""
        ...

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        """Call a tool. Never raises for a failure of server, tool or connection; cancellation passes through."""
        ...

    async def close(self) -> None:
        """End the connection and the server's process; idempotent, bounded in time."""
        ...


@runtime_checkable
class AskingConnection(Connection, Protocol):
    """A connection whose server may ask its callers something while it works on their calls.

    A transport whose connections lack these needs none of them: then no connection is kept for one caller or replaced.
    """

    @property
    def asks(self) -> bool:
        """True once the server has asked something that the host answers, on what all of its calls share."""
        ...

    @property
    def abandoned(self) -> bool:
        """True while the server may still work on an abandoned call, whose questions must reach no other caller."""
        ...

    @property
    def stale(self) -> bool:
        """True once that has lasted for the server's time limit: no further call is made on the connection."""
        ...


@runtime_checkable
class OfferingConnection(Connection, Protocol):
    """A connection whose server may offer resources and prompts beside its tools; its `list_tools` lists them too.

    A transport whose connections lack these methods has no such servers.
    """

    async def request(self, call: ToolCall) -> ToolResult | ToolFailure:
        """Send `call.method` with `call.arguments` as parameters. Never raises for a failure; see `call`.

        `structured` of the result is the server's answer in wire form. A JSON-RPC error is a result with `rpc_code`.
        """
        ...

    async def subscribe(self, call: ToolCall, updated: Callable[[str], None]) -> ToolResult | ToolFailure:
        """Subscribe to the resource whose URI is `call.tool`; its failures are those of `request`.

        `updated` gets the URI of a changed resource, until `unsubscribe` has the same `updated` or the connection
        ends. It must not block.
        """
        ...

    async def unsubscribe(self, uri: str, updated: Callable[[str], None]) -> None:
        """End a subscription. Never raises."""
        ...


@attrs.frozen(kw_only=True)
class FailedCall:
    """A call that failed, as an explainer gets it: secrets are out of it, and each text is at most 500 code points.

    `kind` is the failure's, or `tool_error` when the tool itself answered that it failed; `arguments` is JSON, and may
    end anywhere. `caller` says for which agent, and `agent_type` is the agent's type in its file, such as `worker`.
    """

    server: str
    tool: str
    kind: FailureKind | Literal["tool_error"]
    message: str
    arguments: str
    caller: Caller = attrs.field(factory=Caller)
    agent_type: str = ""


Explainer = Callable[[FailedCall], "str | Awaitable[str | None] | None"]
"""Says in a sentence or two what a failure means and what to do, or None when it has nothing to say."""


class ConnectFailedError(Exception):
    """A server could not be reached. The message is one line for the model, with an exit code or status if known.

    `kind` is `connect_failed`, or `unauthorized`, `timeout`, `protocol` or `too_large` where it is known to be that.
    `permanent` says that trying again cannot help until a person changes something (no such program, HTTP 401).
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind = "connect_failed",
        retry_after_s: float | None = None,
        permanent: bool = False,
    ) -> None:
        from octoc.results import bounded_wait

        super().__init__(message)
        self.kind: FailureKind = kind
        self.retry_after_s = bounded_wait(retry_after_s)
        self.permanent = permanent


@runtime_checkable
class Transport(Protocol):
    """Makes connections of one kind."""

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Connection:
        """Connect within `target.timeout_s`. Without a host whatever the server asks for is declined.

        Raises: ConnectFailedError, with all that was started stopped again.
        """
        ...


@attrs.frozen(kw_only=True)
class LoginState:
    """What is kept of a login to a server: `none`, `valid`, `refreshable` (expired, and renewed unasked) or `expired`.

    `expires_at` is seconds since the epoch, None if it never ends or is unknown; `issuer` is the authorization server.
    """

    state: Literal["none", "valid", "refreshable", "expired"]
    expires_at: float | None = None
    issuer: str = ""
    scopes: tuple[str, ...] = ()


@runtime_checkable
class Login(Protocol):
    """Makes, shows and forgets logins of a person to servers; only its transport reads them."""

    async def login(self, target: ServerTarget, show: Callable[[str], object], timeout_s: float = ...) -> LoginState:
        """Log in; `show` gets the address that the person is to open in a browser. Raises: ConnectFailedError."""
        ...

    def status(self, target: ServerTarget) -> LoginState:
        """Return the stored state, without a request. Raises: ConnectFailedError for a server that has no logins."""
        ...

    def logout(self, target: ServerTarget) -> bool:
        """Forget what is kept; tell whether there was anything. Raises: ConnectFailedError, as `status`."""
        ...


@attrs.frozen(kw_only=True)
class PythonTool:
    """An in-process tool: `handler(arguments)` gives text, a JSON value or a ToolResult, at once or as an awaitable.

    `current_caller()` is the caller in a handler. The other fields count for tools that a plugin binds to a server of
    octoc.toml:

    Args:
        direct_for: the types of agents that have the tool directly, as Octo's own tools: `supervisor`, `worker`,
            `deep_research`, `project`. Other agents do not have it, and in production only those with a grant. Empty:
            agents have it as the tools of other servers.
        timeout_s: how long a call may take, where octoc.toml sets nothing for the tool; None is as for the server.
        annotations: what the tool says of itself, with MCP's keys (`readOnlyHint` and so on).
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    handler: Callable[[Mapping[str, Any]], Any | Awaitable[Any]] = attrs.field(repr=False)
    direct_for: tuple[AgentRole, ...] = ()
    timeout_s: float | None = None
    annotations: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def listed(self) -> ListedTool:
        """The tool as a server would list it."""
        from octoc.results import ListedTool

        wire = {"name": self.name, "description": self.description, "inputSchema": self.input_schema}
        if self.annotations:
            wire["annotations"] = self.annotations
        return ListedTool(name=self.name, description=self.description, wire=wire)


class TokenCounter(Protocol):
    """Counts the tokens of a text for one family of models."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int:
        """Return the number of tokens. Safe to call from several threads: long results are counted in one."""
        ...
