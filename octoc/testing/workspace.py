"""Writes a workspace from simple calls, so that a test says only what it is about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octoc.compiler.inputs.agents.octo import AGENT_FILE
from octoc.compiler.inputs.mcp.claude import MCP_FILE
from octoc.compiler.pin.snapshots import offers_of
from octoc.plugin.protocols import PythonTool
from octoc.results import ListedTool, ServerListing

if TYPE_CHECKING:
    from octoc.compiler.workspace.build import BuildOutcome
    from octoc.plugin.manager import Plugins

TAP = "local"
"""The tap that is written to unless another one is named."""

ToolSpec = str | Mapping[str, Any] | PythonTool
"""A tool of a snapshot: its name alone, its wire object, or a Python tool."""


class WorkspaceBuilder:
    """A workspace in `root`, described call by call; `write` puts its files there.

    Every method but `write` and `build` returns the builder. Taps are `taps/<name>`, in the order in which they are
    first named.
    """

    def __init__(self, root: Path, *, name: str = "test", **settings: Mapping[str, Any]) -> None:
        """Start an empty workspace; `settings` are sections of octoc.toml, as `routing={"gate": "octomind"}`."""
        self.root = root
        self._settings: dict[str, Any] = {"workspace": {"name": name}, **{k: dict(v) for k, v in settings.items()}}
        self._taps: list[str] = []
        self._files: dict[str, str] = {}
        self._servers: dict[str, dict[str, Any]] = {}
        self._listed: dict[str, tuple[ServerListing, str | None]] = {}

    def settings(self, section: str, **values: Any) -> WorkspaceBuilder:
        """Set values of one section of octoc.toml."""
        self._settings.setdefault(section, {}).update(values)
        return self

    def file(self, path: str, text: str) -> WorkspaceBuilder:
        """Write `text` at `path`, relative to the root, as it is; the last text of a path counts."""
        self._files[path] = text
        return self

    def tap(self, name: str = TAP) -> WorkspaceBuilder:
        """Have a tap of this name, also when nothing is put into it."""
        if name not in self._taps:
            self._taps.append(name)
        return self

    def server(self, name: str, command: str | None = None, *args: str, **fields: Any) -> WorkspaceBuilder:
        """Define a server in `.mcp.json`: a command with its arguments, or `url=…`; `fields` go in as they are."""
        entry = dict(fields)
        if command is not None:
            entry = {"command": command, "args": list(args), **entry}
        self._servers[name] = entry
        return self

    def capability(
        self,
        name: str,
        triggers: Sequence[str],
        *,
        server: Mapping[str, Any] | str | None = None,
        allowed_tools: Sequence[str] = (),
        domains: Sequence[str] = (),
        provider: str = "default",
        title: str = "",
        description: str = "",
        tap: str = TAP,
    ) -> WorkspaceBuilder:
        """Define a capability with one provider.

        Args:
            server: the fields of its own `[[mcp.servers]]` (`name` is the capability's unless given, `type` is `stdio`
                or `http`), or the name of one that is defined elsewhere.
            provider: the provider's file; any but `default` becomes the tap's default by `default.toml`.
        """
        self.tap(tap)
        folder = f"taps/{tap}/capabilities/{name}"
        self.file(f"{folder}/config.toml", _toml({"triggers": list(triggers), "domains": list(domains)}))
        definition: dict[str, Any] = {}
        if server is not None:
            own = None if isinstance(server, str) else _own_server(name, server)
            reference = server if isinstance(server, str) else str((own or {})["name"])
            definition["roles"] = {"mcp": {"server_refs": [reference], "allowed_tools": list(allowed_tools)}}
            if own is not None:
                definition["mcp"] = {"servers": [own]}
        head = f"# Title: {title or name}\n# Description: {description or name}\n\n"
        self.file(f"{folder}/{provider}.toml", head + _toml(definition))
        if provider != "default":
            # The text that git leaves of a symlink where the file system has none.
            self.file(f"{folder}/default.toml", f"{provider}.toml")
        return self

    def agent(self, name: str, prompt: str = "You help.", **front: Any) -> WorkspaceBuilder:
        """Define an AGENT.md; `front` are keys of its front matter, as `type="worker"`, `tools=["time"]`."""
        values = {"name": name, "description": f"The agent {name}", **front}
        lines = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
        return self.file(f"agents/{name}/{AGENT_FILE}", f"---\n{lines}\n---\n\n{prompt}\n")

    def octomind_agent(
        self, domain: str, spec: str, *, capabilities: Sequence[str] = (), prompt: str = "You help.", tap: str = TAP
    ) -> WorkspaceBuilder:
        """Define an Octomind agent, `<domain>:<spec>`."""
        self.tap(tap)
        role = {"name": f"{domain}:{spec}", "system": prompt}
        return self.file(
            f"taps/{tap}/agents/{domain}/{spec}.toml",
            f"# Title: {spec}\n# Description: The agent {spec}\n\n"
            + _toml({"capabilities": list(capabilities), "roles": [role]}),
        )

    def skill(self, name: str, body: str = "Do it well.", *, tap: str = TAP, **front: Any) -> WorkspaceBuilder:
        """Define a skill; `front` are further keys of its front matter."""
        self.tap(tap)
        values = {"name": name, "description": f"The skill {name}", **front}
        lines = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
        return self.file(f"taps/{tap}/skills/{name}/SKILL.md", f"---\n{lines}\n---\n\n{body}\n")

    def snapshot(
        self,
        server: str,
        tools: Iterable[ToolSpec],
        *,
        instructions: str | None = None,
        package: str | None = None,
        features: Iterable[str] = (),
        **offers: Iterable[Mapping[str, Any]],
    ) -> WorkspaceBuilder:
        """Record tools of a server. `write` works out the digest of its definition as `octoc pin` does.

        Args:
            offers: `resources`, `resourceTemplates` and `prompts` in wire form; `features` as of `ServerListing`.
        """
        listing = ServerListing(
            server_info={"name": server, "version": "1"},
            protocol_version="2026-07-28",
            instructions=instructions,
            tools=tuple(map(_listed, tools)),
            offers=offers_of({key: list(wires) for key, wires in offers.items()}),
            features=tuple(features),
        )
        self._listed[server] = (listing, package)
        return self

    def write(self) -> Path:
        """Write every file, and return the root. Raises: ValueError when a snapshot's server is defined nowhere."""
        settings = dict(self._settings)
        settings["taps"] = [{"name": tap, "path": f"taps/{tap}"} for tap in self._taps]
        if self._servers:
            settings.setdefault("mcp", {}).setdefault("files", [MCP_FILE])
            self.file(MCP_FILE, json.dumps({"mcpServers": self._servers}, indent=2, ensure_ascii=False) + "\n")
        else:
            settings.setdefault("mcp", {}).setdefault("files", [])
        has_agents = any(path.startswith("agents/") for path in self._files)
        settings.setdefault("agents", {}).setdefault("paths", ["agents"] if has_agents else [])
        for tap in self._taps:
            (self.root / "taps" / tap).mkdir(parents=True, exist_ok=True)
        for path, text in {"octoc.toml": _toml(settings), **self._files}.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
        self._write_snapshots()
        return self.root

    def build(self, plugins: Plugins | None = None, *, allow_degraded: bool = True) -> BuildOutcome:
        """Write every file, and compile the workspace with the given plugins, or those that octoc.toml names.

        Args:
            allow_degraded: as for `octoc build`; a test that gives no encoder then needs none.
        """
        from octoc.compiler.workspace.build import build

        return build(self.write(), plugins=plugins, allow_degraded=allow_degraded)

    def _write_snapshots(self) -> None:
        if not self._listed:
            return
        from octoc.compiler.pin.record import write_snapshot
        from octoc.compiler.workspace.build import resolve_workspace
        from octoc.diagnostics.model import DiagnosticSink
        from octoc.plugin.manager import plugins_of

        build, _, _ = resolve_workspace(self.root, plugins=plugins_of())
        servers = {server.name: server for server in (build.resolved.servers if build is not None else ())}
        for name, (listing, package) in self._listed.items():
            if name not in servers:
                raise ValueError(f"a snapshot is of server `{name}`, and there are only {sorted(servers)}")
            sink = DiagnosticSink()
            if write_snapshot(self.root, servers[name], listing, package, sink) is None:
                raise ValueError(sink.diagnostics[0].message)


def _own_server(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's block with every field that Octomind asks for."""
    kind = {"type": "stdio", "args": []} if "command" in fields else {"type": "http"}
    return {"name": name, **kind, "timeout_seconds": 30, "tools": [], **fields}


def _listed(tool: ToolSpec) -> ListedTool:
    if isinstance(tool, PythonTool):
        tool = {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
    elif isinstance(tool, str):
        tool = {"name": tool, "description": f"The tool {tool}", "inputSchema": {"type": "object"}}
    return ListedTool(name=tool["name"], description=tool.get("description", ""), wire=dict(tool))


def _toml(value: Mapping[str, Any]) -> str:
    import tomlkit

    return tomlkit.dumps(value)
