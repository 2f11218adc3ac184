"""Client configurations that start `octoc serve` or connect to it."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from octoc.plugin.toolkit import is_loopback
from octoc.runtime import OpenBundle
from octoc_serve.admission import check_agents, may_use
from octoc_serve.paths import path_of
from octoc_serve.settings import ALL_AGENTS, GatewayError, GatewaySettings
from octoc_serve.tokens import Tokens

if TYPE_CHECKING:
    from octoc.runtime import AgentEntry

NAME = "octoc"
_TOKEN = {"claude": "${{{env}}}", "cursor": "${{env:{env}}}", "vscode": "${{input:{input}}}"}
"""How each client's file refers to a secret outside it."""


@attrs.frozen(kw_only=True)
class _Entry:
    """One server in a client's file: its name, its path, and the variable or input of its token."""

    name: str
    path: str
    env: str
    input: str


def config(client: str, settings: GatewaySettings) -> str:
    """Return the client's JSON: `mcpServers` of Claude Code and Cursor, `servers` of VS Code; never with a token.

    Raises: as serving with these settings: GatewayError, BundleFileError, UnknownNameError.
    """
    agents = _agents(settings)
    inputs: list[dict[str, Any]] = []
    if settings.transport == "stdio":
        servers = {NAME: _stdio(settings)}
    else:
        _check_address(settings)
        # A client would ask for a token that does not exist, or reject its whole file.
        guarded = bool(Tokens(settings.tokens, settings.workspace).read()) or not is_loopback(settings.host)
        entries = _entries(settings, [name for name in agents if guarded or may_use(agents, name, settings.tenant)])
        servers = {entry.name: _http(client, settings, entry, guarded=guarded) for entry in entries}
        inputs = [
            {"id": entry.input, "type": "promptString", "description": f"Token of {entry.name}", "password": True}
            for entry in entries
            if guarded
        ]
    if client != "vscode":
        if client == "cursor":
            for server in servers.values():
                server.pop("type")
        return json.dumps({"mcpServers": servers}, indent=2)
    return json.dumps({"servers": servers, **({"inputs": inputs} if inputs else {})}, indent=2)


def _stdio(settings: GatewaySettings) -> dict[str, Any]:
    # Clients start it with their own PATH and working directory.
    script = Path(sys.executable).with_name("octoc")
    command = [str(script)] if script.is_file() else [sys.executable, "-m", "octoc"]
    where = settings.workspace
    named = [] if where is not None and settings.bundle.parent.parent == where else ["--bundle", str(settings.bundle)]
    named += [] if where is None else ["--workspace", str(where)]
    arguments = ["serve", *named, "--agent", settings.agent]
    for option, value in (("--tenant", settings.tenant), ("--user", settings.user)):
        arguments += [] if value is None else [option, value]
    if settings.stateless:
        arguments.append("--stateless")
    return {"type": "stdio", "command": command[0], "args": [*command[1:], *arguments]}


def _check_address(settings: GatewaySettings) -> None:
    """Check that a client can connect to the address. Raises: GatewayError."""
    if settings.port == 0:
        raise GatewayError("port 0 is any that is free: a client has to know which", "--port names one")
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(settings.host).is_unspecified:
            raise GatewayError(
                f"`{settings.host}` is every address of this machine: a client has to know one",
                "here --host is what its clients call this machine",
            )


def _http(client: str, settings: GatewaySettings, entry: _Entry, *, guarded: bool) -> dict[str, Any]:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    scheme = "http" if settings.tls_cert is None else "https"
    server: dict[str, Any] = {"type": "http", "url": f"{scheme}://{host}:{settings.port}{entry.path}"}
    if guarded:
        token = _TOKEN[client].format(env=entry.env, input=entry.input)
        server["headers"] = {"Authorization": f"Bearer {token}"}
    return server


def _entries(settings: GatewaySettings, names: Collection[str]) -> list[_Entry]:
    """Return an entry for `/mcp`, or one for each of the agents `names` with its own path and token."""
    if settings.agents is None:
        return [_Entry(name=NAME, path=path_of(None), env="OCTOC_TOKEN", input="octoc-token")]
    entries: dict[str, _Entry] = {}
    named = sorted(names) if settings.agents == (ALL_AGENTS,) else settings.agents
    for agent in (name for name in named if name in names):
        plain = re.sub(r"[^A-Za-z0-9]+", "-", agent).strip("-") or "agent"
        taken = sum(other.startswith(f"{NAME}-{plain}") for other in entries)
        word = f"{plain}-{taken + 1}" if f"{NAME}-{plain}" in entries else plain
        entries[f"{NAME}-{word}"] = _Entry(
            name=f"{NAME}-{word}",
            path=path_of(agent),
            env=f"OCTOC_TOKEN_{word.replace('-', '_').upper()}",
            input=f"octoc-token-{word.lower()}",
        )
    return list(entries.values())


def _agents(settings: GatewaySettings) -> Mapping[str, AgentEntry]:
    """Return the bundle's agents by name, after checking that the named ones exist."""
    opened = OpenBundle.open(settings.bundle)
    try:
        agents = {agent.name: agent for agent in opened.bundle.agents}
    finally:
        opened.close()
    check_agents(agents, settings)
    return agents
