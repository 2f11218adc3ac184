"""One conversation of one agent: what it may see, what is active, and every way to use it."""

from __future__ import annotations

import logging
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import attrs

from octoc.runtime.activation.active_set import ActiveSet, References, Use
from octoc.runtime.activation.eviction import surplus
from octoc.runtime.activation.kept_capabilities import Switching, pin, set_pins, unpin
from octoc.runtime.activation.route import MAX_TURNS, candidates_of, decide, fitting, held_of
from octoc.runtime.catalog.formats import MCP, Deferral, Form
from octoc.runtime.catalog.visible_tools import Surface
from octoc.runtime.shares import account_of
from octoc.runtime.values import Routing, SearchHit
from octoc.search import DEFAULT_LIMIT
from octoc.tokens import APPROXIMATE

if TYPE_CHECKING:
    import asyncio

    from octoc.bundle.model import AgentEntry, Settings
    from octoc.caller import Caller
    from octoc.formats import ToolFormat
    from octoc.names import ToolId
    from octoc.plugin import TokenCounter
    from octoc.results import Progress
    from octoc.runtime.catalog.cache_report import CacheReport
    from octoc.runtime.history import Aged, Fitted, Message, Pruner, Repaired
    from octoc.runtime.inspection import Inspection
    from octoc.runtime.loaded_bundle import Generation
    from octoc.runtime.results.limits import Limits
    from octoc.runtime.results.store import ResultStore
    from octoc.runtime.skills.skillset import SkillChange, SkillSet
    from octoc.runtime.skills.validate import Refusal
    from octoc.runtime.tools.parallel_calls import Call
    from octoc.runtime.tools.server_call import Outcome

logger = logging.getLogger("octoc.runtime")

_BASE, _PROXY = "*base", "*proxy"


class Session:
    """One conversation. Make it with `Runtime.session`; `close` it, or let it go: then what it needed is let go too."""

    def __init__(self, generation: Generation, agent: AgentEntry, caller: Caller) -> None:
        self.runtime = runtime = generation.runtime
        self.generation = generation
        self.agent = agent
        self.caller = caller
        scope = generation.scope(agent)
        self.active = ActiveSet(scope.settings.max_active, runtime.clock, scope.settings.pinned)
        self.surface = Surface(scope, self.active)
        self.turns: deque[str] = deque(maxlen=MAX_TURNS)
        """The user's last messages, the oldest first."""
        self._number = next(runtime.session_numbers)
        self.switching = Switching()
        self.shown: Form = MCP
        """How the block was last shown, and so how arguments are read."""
        self.holders: set[str] = set()
        self._proxied: set[Use] = set()
        runtime.sessions[self._number] = generation
        held = (runtime.references, runtime.results, runtime.sessions, self._number, self.holders)
        weakref.finalize(self, _let_go, *held).atexit = False
        self.hold_base()

    @property
    def settings(self) -> Settings:
        """The workspace's settings for run time, with the agent's own in their place."""
        return self.surface.scope.settings

    @cached_property
    def lock(self) -> asyncio.Lock:
        """What one change of the active set at a time holds; made when the first asks, as asyncio loads slowly."""
        import asyncio

        return asyncio.Lock()

    @cached_property
    def skillset(self) -> SkillSet:
        """The skills that the session may use, and those that it uses."""
        from octoc.runtime.skills.skillset import SkillSet  # here, as much else is: loading alone does without it

        return SkillSet(self)

    @property
    def is_revoked(self) -> bool:
        """Whether a reload took the agent away from this session: no call begins any more, and a message is refused."""
        return self.runtime.generation.agent_of(self.agent.name, self.caller.tenant) is None

    @property
    def profile(self) -> str:
        """The profile of results and failures: `octoc`, `octo` or `octopus`."""
        return self.settings.results.profile

    @property
    def system_prompt(self) -> str:
        """The agent's own system prompt; empty when it has none. Raises: BundleRefused."""
        return self.generation.opened.text(self.agent.prompt)

    @property
    def servers_prompt(self) -> str:
        """The section on the agent's MCP servers, to stand in its system prompt. Raises: BundleRefused."""
        return self.generation.opened.text(self.agent.servers_prompt)

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The active capabilities, the first activated first; boot capabilities are not among them."""
        return self.active.names

    def tools(
        self,
        format: ToolFormat = "anthropic",  # noqa: A002  # the field's word
        *,
        deferred: Deferral = "proxy",
    ) -> list[dict[str, Any]]:
        """Return the tool block for the next request: octoc's own tools, then the visible ones, for the API's `tools`.

        The same state gives the same bytes, and an activation only appends, if nothing has to give way for it. What
        servers change in their tools shows at the next `on_user_message`, or when a capability becomes inactive; tools
        that are new are appended at once.

        Args:
            format: whose API it is for: schemas are as that provider takes them, and `call` reads what fits them.
            deferred: how other tools are reached: by the `proxy`, or `native`ly, with what `tool_search` returns.

        Raises: ValueError for an unknown format or way to defer, or a format that cannot defer so; BundleRefused when
            the bundle was altered.
        """
        from octoc.runtime.catalog.tool_block import tool_block

        form = Form.of(format, deferred)
        block = tool_block(self, form)
        self.shown = form
        return block

    def tool_search(self, query: str, limit: int = DEFAULT_LIMIT) -> list[dict[str, Any]]:
        """Return what the model's search gave, for a block with `deferred="native"`: the blocks that load the tools.

        For `anthropic` the content of the `tool_result` for `find_tools`, for `openai-responses` the `tools` of the
        `tool_search_output`. Raises: ValueError when no such block was shown, BundleRefused.
        """
        from octoc.runtime.catalog.tool_block import found_tools

        return found_tools(self, self.search(query, limit))

    def cache_report(self) -> CacheReport:
        """Say how much of the tool block stays as it is, and what each activation or eviction would change in it.

        Changes and connects nothing. Raises: BundleRefused.
        """
        from octoc.runtime.catalog.cache_report import cache_report

        return cache_report(self)

    def search(self, query: str, limit: int = DEFAULT_LIMIT) -> list[SearchHit]:
        """Return the tools that this session can call and that fit the query best; connects nothing."""
        from octoc.runtime.tools.search import look

        return [found.hit for found in look(self, query, limit).hits]

    def route(self, text: str, before: Sequence[str] | None = None) -> Routing:
        """Decide which capability a user's message is for; changes nothing.

        Args:
            before: the user's earlier messages, the oldest first; None is what `on_user_message` got in this session.
        """
        turns = tuple(self.turns) if before is None else before
        held = held_of(self)
        return fitting(self, decide(self.generation, text, candidates_of(self, held), held, turns))

    async def on_user_message(self, text: str) -> Routing:
        """Route a fresh message of the user, activate what it is for, evict what has to give way.

        After a reload this is where the session goes over to the new bundle, unless `renew` was called before.

        A capability that cannot be activated, as when its server does not start, is logged and leaves all as it was.
        `Routing.skills` are the skills whose rules the message meets: they are in use now, and the host puts their
        texts into the conversation, behind the message.

        Raises: UnknownNameError when a reload took the agent away, as `Runtime.session` does for one that is not there.
        """
        from octoc.runtime.activation.message import take_message

        return await take_message(self, text)

    async def renew(self) -> None:
        """Go over to the bundle of the last reload now, not at the next message; calls under way go on undisturbed.

        Raises: UnknownNameError when the bundle has no such agent for the session's tenant. The session then has
        nothing, until another reload brings the agent back.
        """
        from octoc.runtime.reload import renew

        await renew(self)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        caller: Caller | None = None,
        format: ToolFormat | None = None,  # noqa: A002  # as above
    ) -> Outcome:
        """Call a tool that the model named. Every failure is a value; long results are cut to the workspace's limit.

        Args:
            on_progress: gets what the server says meanwhile, without secrets; called from the event loop.
            caller: for whom this one call is made, where that is another than the session's own; without a tenant it
                is the session's.
            format: of the block that the model was shown, unless it is that of the last `tools`. Arguments that are as
                the tool's own schema has them are taken as well.

        Raises: ValueError for an unknown format.
        """
        form = self.shown if format is None else Form(format)
        if caller is None:
            caller = self.caller
        else:
            tenant = self.caller.tenant if caller.tenant is None else caller.tenant
            caller = attrs.evolve(caller, tenant=tenant, account=caller.account or self.caller.account)
            self.runtime.accounts.note(account_of(caller))
        from octoc.runtime.tools.dispatch import Asked, dispatch

        return await dispatch(self, name, arguments, Asked(on_progress, caller, form))

    async def call_all(
        self, calls: Sequence[Call], *, on_progress: Callable[[int, Progress], None] | None = None
    ) -> list[Outcome]:
        """Make the calls of one turn, (name, arguments) each, at the same time; the results are in their order.

        One that fails leaves the others alone. A call of `capability` waits for those before it, and those after it
        wait for it. `on_progress` gets the call's place too.
        """
        from octoc.runtime.tools.parallel_calls import call_all

        return await call_all(self, calls, on_progress)

    @cached_property
    def counter(self) -> TokenCounter:
        """What counts tokens for this agent's model; its name tells figures apart."""
        return self.runtime.counter_for(self.agent.model)

    def prune(self, messages: Sequence[Message], *, budget_tokens: int) -> list[Message]:
        """Return the messages without the oldest, so that the rest fits the budget: what `fit` keeps by default.

        No call is left without its result, and no result without its call. What has to stay over the budget is logged.
        """
        from octoc.runtime.history import prune  # here and below: a host may keep its history itself

        fitted = prune(messages, budget_tokens, self.counter)
        if fitted.why_over:
            logger.warning("over the budget: %s", fitted.why_over)
        return fitted.messages

    async def fit(
        self,
        messages: Sequence[Message],
        *,
        budget_tokens: int,
        pruner: Pruner | None = None,
        keep_turns: int | None = None,
        format: str | None = None,  # noqa: A002  # the field's word
    ) -> Fitted:
        """Shorten a conversation to the budget the way `pruner` says, and say what was done and why it may not fit.

        Args:
            pruner: `Fifo()`, `SlidingWindow(turns=…)` or `Summarize(summarizer=…)`, of `octoc.runtime.history`;
                the first without one.
            keep_turns: the user's last turns whose requests stay even over the budget, by default `KEEP_TURNS`.
            format: the shape of the messages, one of `SHAPES`; found out when it is not stated.

        Raises: ValueError for an unknown format.
        """
        from octoc.runtime.history import FIFO, KEEP_TURNS, fit, shape_of

        return await fit(
            messages,
            budget_tokens,
            self.counter,
            pruner=FIFO if pruner is None else pruner,
            keep_turns=KEEP_TURNS if keep_turns is None else keep_turns,
            shape=shape_of(messages, format),
        )

    def age(self, messages: Sequence[Message], *, format: str | None = None) -> Aged:  # noqa: A002  # as above
        """Return the conversation with old, long results as a head and a handle, which `read_result` pages through.

        Results that nothing keeps, as with a store of no size, stay as they are. Raises: ValueError for an unknown
        format.
        """
        from octoc.runtime.history import age, shape_of
        from octoc.runtime.results.cutting import keep_aged

        return age(messages, shape_of(messages, format), partial(keep_aged, self), profile=self.profile)

    def inspect(
        self,
        messages: Sequence[Message] | None = None,
        *,
        budget_tokens: int | None = None,
        format: str | None = None,  # noqa: A002  # as above
    ) -> Inspection:
        """Say what the model is given now: each part, where it is from, its tokens, and what a budget would prune.

        Changes, keeps and connects nothing. Raises: ValueError for an unknown format, BundleRefused.
        """
        from octoc.runtime.inspection import inspect

        return inspect(self, messages, budget_tokens=budget_tokens, format=format)

    def repair(self, messages: Sequence[Message], *, format: str | None = None) -> Repaired:  # noqa: A002  # as above
        """Return a stored or foreign conversation as one that its API takes, and say what was done to it.

        A call without a result counts as interrupted. Raises: ValueError for an unknown format.
        """
        from octoc.runtime.history import repair, shape_of

        return repair(messages, shape_of(messages, format))

    async def activate(self, capability: str) -> str:
        """Activate a capability by name; returns what `capability` would tell the model."""
        from octoc.runtime.activation.activate import activate

        return (await activate(self, capability, by_host=True)).text

    async def deactivate(self, capability: str) -> str:
        """Deactivate a capability by name; returns what `capability` would tell the model."""
        from octoc.runtime.activation.activate import deactivate

        return (await deactivate(self, capability)).text

    @property
    def pinned(self) -> tuple[str, ...]:
        """The capabilities that never give way in this session, sorted, whether or not they are active."""
        return tuple(sorted(self.active.pinned))

    def pin(self, capability: str) -> str:
        """Let a capability never give way once it is active; the limits count it. Returns what became of it."""
        return pin(self, capability)

    def unpin(self, capability: str) -> str:
        """Let a capability give way again, also one that the workspace has pinned. Returns what became of it."""
        return unpin(self, capability)

    @property
    def skills(self) -> tuple[str, ...]:
        """The skills in use, the first used first."""
        return self.skillset.used

    @property
    def skills_prompt(self) -> str:
        """The texts of the skills in use, for a host that rebuilds a conversation in which they were.

        Using another only appends. Raises: BundleRefused.
        """
        from octoc.runtime.skills.text import skill_block

        return "\n\n".join(skill_block(self, self.skillset.entry(name)) for name in self.skillset.used)

    async def use_skill(self, name: str) -> SkillChange:
        """Use a skill by name: `text` is what `skill` would tell the model, `block` goes into the conversation.

        Raises: BundleRefused.
        """
        return await self.skillset.use(name)

    async def forget_skill(self, name: str) -> SkillChange:
        """Stop using a skill, and deactivate the capabilities that only it has asked for."""
        return await self.skillset.forget(name)

    async def validate(self, reply: str) -> tuple[Refusal, ...]:
        """Have the `validate` scripts of the skills in use judge an agent's reply; none is run by default.

        `Refusal.text` is what to tell the model. Raises: BundleRefused.
        """
        from octoc.runtime.skills.validate import validate

        return await validate(self, reply)

    async def connect_unlisted(self, *, shown_only: bool = False) -> dict[str, str]:
        """Connect the servers without a snapshot whose tools are not known yet, so that they can be found and shown.

        For hosts that want to pay for it: nothing else starts a server but an activation or a call.

        Args:
            shown_only: leave out those whose tools only the proxy reaches.

        Returns: server -> why it could not be connected.
        """
        from octoc.runtime.activation.unlisted import connect_unlisted

        return await connect_unlisted(self, shown_only=shown_only)

    async def close(self) -> None:
        """End the session: nothing is active any more, and servers that nobody else needs are closed."""
        from octoc.runtime.activation.activate import end

        await end(self)
        self.runtime.sessions.pop(self._number, None)
        self.runtime.sweep()
        self.runtime.results.forget(self.key)

    def limits(self, tool: ToolId | None) -> tuple[Limits, TokenCounter]:
        """Return how much of a result of `tool` the model sees, and what counts its tokens; None is octoc's own."""
        limits = self.surface.scope.limits.of(tool)
        # Asking for the workspace's counter loads its plugins, for which a limit in characters has no use.
        return limits, self.counter if limits.tokens else APPROXIMATE

    @property
    def key(self) -> int:
        """What tells this session from the runtime's others, as the owner of kept results."""
        return self._number

    @property
    def reads_results(self) -> bool:
        """Whether `read_result` is answered: results are kept, and the agent has tools that may give some."""
        registry = self.surface.registry
        has_tools = registry.proxy or registry.tools or registry.unlisted_direct or self.surface.switchable
        return self.runtime.results.enabled and bool(has_tools or self.skillset.names)

    def hold(self, holder: str, uses: Iterable[Use]) -> None:
        """Note that `holder`, a capability or a part of the session, needs these tools."""
        self.holders.add(holder)
        self.runtime.references.hold((self._number, holder), uses)

    def hold_base(self) -> None:
        """Note what the tools need that are visible from the start, as far as they are known now."""
        self.hold(_BASE, self.surface.scope.base_uses())

    def release(self, holder: str) -> frozenset[str]:
        """Note that `holder` needs nothing any more. Returns the servers that nobody needs."""
        self.holders.discard(holder)
        return self.runtime.references.release((self._number, holder))

    def release_all(self) -> frozenset[str]:
        """Note that the session needs nothing any more. Returns the servers that nobody needs."""
        freed = [self.release(holder) for holder in tuple(self.holders)]
        references = self.runtime.references
        return frozenset(server for servers in freed for server in servers if not references.is_needed(server))

    def move(self, generation: Generation, agent: AgentEntry) -> frozenset[str]:
        """Go over to another bundle with what is active; returns the servers that nobody needs any more.

        What the active capabilities need is to be held anew.
        """
        freed = self.release_all()
        self.generation = generation
        self.agent = agent
        self.runtime.sessions[self._number] = generation
        self.__dict__.pop("counter", None)  # another model may count its tokens otherwise
        old, self.surface = self.surface, Surface(generation.scope(agent), self.active)
        own = (*agent.registry.capabilities, *agent.registry.reserved)
        kept = (name for name in own if name in generation.capabilities)
        boot = frozenset(agent.registry.boot)
        self.active.keep((name for name in kept if name not in boot), self.settings.max_active)
        set_pins(self)
        for name in surplus(self):
            self.active.remove(name)
        self.surface.follow(old)
        self.hold_base()
        self._proxied = {use for use in self._proxied if use[0] in generation.servers}
        if self._proxied:
            self.hold(_PROXY, self._proxied)
        return freed

    def note_proxied(self, index: int) -> None:
        """Note that a tool was reached that is not visible: its server stays until the session ends."""
        use = self._use(index)
        if use not in self._proxied:
            self._proxied.add(use)
            self.hold(_PROXY, self._proxied)

    def _use(self, index: int) -> Use:
        tool = self.generation.catalog[index].id
        return (tool.server, tool.tool)


def _let_go(
    references: References, results: ResultStore, sessions: dict[int, Generation], session: int, holders: set[str]
) -> None:
    results.abandon(session)
    sessions.pop(session, None)
    for holder in tuple(holders):
        references.release((session, holder))
