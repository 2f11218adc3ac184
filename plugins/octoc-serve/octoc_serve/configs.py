"""What to paste into a client's file, so that it starts `octoc serve` or connects to it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import attrs

from octoc.plugin.gateway import ALL_AGENTS, GatewayRefused, GatewaySettings
from octoc_serve.paths import path_of

NAME = "octoc"
_TOKEN = {"claude": "${{{env}}}", "cursor": "${{env:{env}}}", "vscode": "${{input:{input}}}"}
"""How each client's file refers to a secret that does not stand in it."""


@attrs.frozen(kw_only=True)
class _Entry:
    """One server in a client's file: what it is called there, where it is, and where its token comes from."""

    name: str
    path: str
    env: str
    input: str


def config(client: str, settings: GatewaySettings) -> str:
    """Return the client's JSON: `mcpServers` of Claude Code and Cursor, `servers` of VS Code; never with a token.

    Raises: GatewayRefused for an agent that is not in the bundle, BundleRefused when it cannot be read.
    """
    if settings.transport == "stdio":
        servers = {NAME: _stdio(settings)}
        inputs = []
    else:
        entries = _entries(settings)
        servers = {entry.name: _http(client, settings, entry) for entry in entries}
        inputs = [
            {"id": entry.input, "type": "promptString", "description": f"Token of {entry.name}", "password": True}
            for entry in entries
        ]
    if client != "vscode":
        if client == "cursor":
            for server in servers.values():
                server.pop("type")
        return json.dumps({"mcpServers": servers}, indent=2)
    return json.dumps({"servers": servers, **({"inputs": inputs} if inputs else {})}, indent=2)


def _stdio(settings: GatewaySettings) -> dict[str, Any]:
    # Clients start it with a PATH and in a folder of their own.
    script = Path(sys.executable).with_name("octoc")
    command = [str(script)] if script.is_file() else [sys.executable, "-m", "octoc"]
    where = settings.workspace
    named = ["--bundle", str(settings.bundle)] if where is None else ["--workspace", str(where)]
    arguments = ["serve", *named, "--agent", settings.agent]
    for option, value in (("--tenant", settings.tenant), ("--user", settings.user)):
        arguments += [] if value is None else [option, value]
    if settings.stateless:
        arguments.append("--stateless")
    return {"type": "stdio", "command": command[0], "args": [*command[1:], *arguments]}


def _http(client: str, settings: GatewaySettings, entry: _Entry) -> dict[str, Any]:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    scheme = "http" if settings.tls_cert is None else "https"
    token = _TOKEN[client].format(env=entry.env, input=entry.input)
    url = f"{scheme}://{host}:{settings.port}{entry.path}"
    return {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}


def _entries(settings: GatewaySettings) -> list[_Entry]:
    """Return a server for each agent that is served: the one of `/mcp`, or each by its name, as tokens are its own."""
    if settings.agents is None:
        return [_Entry(name=NAME, path=path_of(None), env="OCTOC_TOKEN", input="octoc-token")]
    entries: dict[str, _Entry] = {}
    for agent in _named(settings):
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


def _named(settings: GatewaySettings) -> tuple[str, ...]:
    from octoc.bundle.reader import OpenBundle

    opened = OpenBundle.open(settings.bundle)
    try:
        known = tuple(sorted(agent.name for agent in opened.bundle.agents))
    finally:
        opened.close()
    named = settings.agents or ()
    if named == (ALL_AGENTS,):
        return known
    for agent in named:
        if agent not in known:
            raise GatewayRefused(
                f"agent `{agent}` is not in the bundle", f"it has {', '.join(f'`{one}`' for one in known)}"
            )
    return named
