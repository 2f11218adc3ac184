"""Settings with a fixed set of values, in `octoc.toml`, the bundle and the runtime."""

from __future__ import annotations

from typing import Literal

AliasStyle = Literal["qualified", "bare"]
Mode = Literal["development", "production"]
GateKind = Literal["calibrated", "octomind"]
"""How the gate decides: by a fitted classifier, or by Octomind's rule."""
Domainless = Literal["all", "universal"]
"""Which capabilities an agent without a domain may activate."""
RoutingProfile = Literal["eager", "balanced", "cautious", "public", "newest"]
ScopeProfile = Literal["allow", "deny"]
ResultProfile = Literal["octoc", "octo", "octopus"]
"""The wording of results and failures for a model."""
KeptPart = Literal["head", "tail", "both"]
"""The part of a long result that stays."""
RetryMode = Literal["safe", "always", "never"]
PinMode = Literal["refuse", "warn", "allow"]
"""What becomes of a tool that differs from its pin: not called, served with a warning in the log, or served."""
ServerEra = Literal["newest", "handshake"]
"""The era of MCP in which octoc connects a server: the newest that it has, or that of `initialize`."""
ArgumentsMode = Literal["error", "warn", "off"]
Rank = Literal["default", "bm25", "octo"]
Bind = Literal["auto", "never"]
"""Whether an agent gets its tools directly where they cost fewer tokens than octoc's own tools."""
DepsLimit = Literal["never", "check", "run"]
"""From the least to the most: ignore dependencies, look for their programs, run their scripts."""
ValidateLimit = Literal["never", "run"]
"""Whether skills' `validate` scripts may run."""
AgentRole = Literal["supervisor", "worker", "deep_research", "project"]
"""The types of agents that built-in tools are for. Source: Octo, tool distribution."""
AgentKind = Literal["octo", "claude", "octomind", "octoc"]
"""The client whose file defines an agent; `octoc` for the agent of a workspace without agents."""
TokenAlgorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures of access tokens, all asymmetric: who can verify one cannot make one."""
