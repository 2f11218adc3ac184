"""Settings of the gateway: what it serves, to whom, and within which limits."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import attrs

from octoc.names import SUPERVISOR

ALL_AGENTS = "all"
"""What stands for every agent of the bundle, in `GatewaySettings.agents`."""


@attrs.frozen(kw_only=True)
class GatewaySettings:
    """What is served, to whom and within which limits.

    Args:
        workspace: the folder that the bundle runs in, None for the working directory.
        agent: whom a client without a token talks to; a token names its own.
        agents: who else is served at a path of its own, over HTTP; `ALL_AGENTS` alone is every agent of the bundle.
            None: `agent` without a token, and whom a token names.
        tenant, user: for whom a client without a token works.
        port: 0 is any that is free.
        stateless: nothing is kept between two requests: no active set, no handles.
        tokens: the file of tokens, None for the user's own.
        origins: what else than this machine's own pages may send an `Origin`, as `https://example.com`.
        tls_cert, tls_key: PEM files, both or none; with them HTTP is spoken over TLS alone.
        max_body_bytes: of one message of a client.
        max_elements: JSON elements of one message of a client.
        max_connections: how many are open at once.
        max_sessions: how many clients' states are kept at once.
        max_calls: how many calls run at once.
        idle_s: seconds without a request after which one of them ends.
        request_s: seconds that a request may take to arrive, head and body.
        keep_alive_s: seconds that a connection stays open between two requests.
        write_s: seconds that a client may leave unread what it is sent.
        drain_s: seconds that calls under way have to end when the gateway is told to stop.
    """

    bundle: Path
    workspace: Path | None = None
    agent: str = SUPERVISOR
    agents: tuple[str, ...] | None = None
    tenant: str | None = None
    user: str | None = None
    transport: Literal["stdio", "http"] = "stdio"
    host: str = "127.0.0.1"
    port: int = 8000
    stateless: bool = False
    tokens: Path | None = None
    origins: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None
    max_body_bytes: int = 4 * 1024 * 1024
    max_elements: int = 100_000
    max_connections: int = 800
    max_sessions: int = 1000
    max_calls: int = 800
    idle_s: float = 1800.0
    request_s: float = 30.0
    keep_alive_s: float = 30.0
    write_s: float = 60.0
    drain_s: float = 30.0


class GatewayRefused(Exception):  # noqa: N818  # a state of the world, not a fault in the program
    """A gateway cannot begin, or a token's file cannot be used. One line; `help` is the next step."""

    def __init__(self, message: str, help: str | None = None) -> None:  # noqa: A002  # rustc's word
        super().__init__(message)
        self.help = help
