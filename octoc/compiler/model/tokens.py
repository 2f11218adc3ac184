"""What tools cost in tokens, as `octoc build` reports it and remembers it."""

from __future__ import annotations

import attrs

from octoc.formats import ToolFormat


@attrs.frozen(kw_only=True)
class AgentTokens:
    """The token costs of one agent before the first message, and of the tools that it may load.

    Args:
        format: the form of the tools, which `counter` counted.
        start_tokens: the tokens at the start: of the two prompts, and `direct_tokens`.
        prompt_tokens, servers_prompt_tokens: those of the agent's own system prompt, and of octoc's section on servers.
        own_tokens: the part of `direct_tokens` that octoc's own tools take.
        direct_tools: number of tools in every request from the start, octoc's own included, with `direct_tokens`.
        deferred_tools: number of tools that `find_tools` or a capability loads, with the saved `deferred_tokens`.
        largest: name and tokens of the largest direct tools, largest first.
    """

    agent: str
    format: ToolFormat
    counter: str
    start_tokens: int
    prompt_tokens: int
    servers_prompt_tokens: int
    own_tokens: int
    direct_tools: int
    direct_tokens: int
    deferred_tools: int
    deferred_tokens: int
    largest: tuple[tuple[str, int], ...] = ()

    @property
    def bound_tokens(self) -> int:
        """The tokens at the start without octoc: of its own system prompt and all its tools, direct and deferred."""
        return self.prompt_tokens + self.direct_tokens - self.own_tokens + self.deferred_tokens


@attrs.frozen(kw_only=True)
class CapabilityTokens:
    """The tokens that an active capability adds to each request, in the workspace's default form."""

    capability: str
    tools: int
    tokens: int


@attrs.frozen(kw_only=True)
class TokenReport:
    """The token costs of all agents and capabilities."""

    agents: tuple[AgentTokens, ...] = ()
    capabilities: tuple[CapabilityTokens, ...] = ()
