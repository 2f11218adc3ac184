"""What `octoc doctor` looks at: Python, plugins, programs, variables, and servers that it starts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs

from octoc import __version__
from octoc.installation import install_command

if TYPE_CHECKING:
    from octoc.compiler.model.build import Build
    from octoc.compiler.model.resolved import Server
    from octoc.plugin.manager import Plugins
    from octoc.plugin.protocols import ServerTarget

PluginState = Literal["ok", "missing", "broken"]
ServerState = Literal["ok", "failed", "not ready", "not approved", "not started", "no program", "no answer"]


@attrs.frozen(kw_only=True)
class PluginCheck:
    """A plugin that the workspace names, or each installed one without a workspace. `cause`: why it does not work."""

    name: str
    state: PluginState
    version: str = ""
    cause: str = ""


@attrs.frozen(kw_only=True)
class ProgramCheck:
    """A program that servers start. `path` is where it is, None where it is not found."""

    program: str
    path: str | None
    servers: tuple[str, ...]


@attrs.frozen(kw_only=True)
class MissingVariable:
    """A variable, file or other reference that has no value here, and the servers that need it."""

    name: str
    servers: tuple[str, ...]


@attrs.define(kw_only=True)
class ServerCheck:
    """A server, and how its start ended.

    `tools` it lists, `seconds` until its answer, `cause` why it does not work, `next_step` what its user can do.
    """

    name: str
    state: ServerState
    tools: int | None = None
    seconds: float | None = None
    cause: str = ""
    next_step: str = ""


@attrs.define(kw_only=True)
class MachineReport:
    """All that was looked at. `errors` counts findings of the workspace's files, which `octoc check` shows."""

    plugins: Sequence[PluginCheck]
    workspace: Path | None = None
    errors: int = 0
    programs: Sequence[ProgramCheck] = ()
    variables: Sequence[MissingVariable] = ()
    servers: Sequence[ServerCheck] = ()
    octoc: str = __version__
    python: str = ".".join(map(str, sys.version_info[:3]))
    executable: str = sys.executable

    @property
    def problems(self) -> int:
        """The number of things that the workspace needs and that are missing or do not work."""
        return (
            sum(one.state != "ok" for one in self.plugins)
            + sum(one.path is None for one in self.programs)
            + len(self.variables)
            + sum(one.state == "failed" for one in self.servers)
        )

    def as_object(self) -> dict[str, Any]:
        """Return the report for programs."""
        values = attrs.asdict(self, recurse=True)
        return {**values, "workspace": None if self.workspace is None else str(self.workspace), "ok": not self.problems}


def plugin_checks(plugins: Plugins) -> list[PluginCheck]:
    """Return the state of each plugin that `plugins` names."""
    versions = plugins.versions()
    return [
        *(PluginCheck(name=name, state="ok", version=version) for name, version in versions.items()),
        *(
            PluginCheck(name=name, state="missing", cause=f"run `{install_command(f'octoc-{name}')}`")
            for name in plugins.missing
        ),
        *(PluginCheck(name=name, state="broken", cause=cause) for name, cause in plugins.broken.items()),
    ]


def examine(build: Build, plugins: Plugins, root: Path, servers: Sequence[Server]) -> MachineReport:
    """Return the report of a workspace with no server started; it resolves the servers' references."""
    from octoc.cli.server_failures import next_step_of
    from octoc.plugin.targets import NotReadyError, make_target
    from octoc.plugin.transports import transport_kind

    programs: dict[tuple[str, str | None], list[str]] = {}
    missing: dict[str, list[str]] = {}
    checks = []
    for server in servers:
        check = ServerCheck(name=server.name, state="not started")
        kind = transport_kind(plugins, server.transport)
        production = build.settings.mode == "production"
        try:
            target = make_target(server, plugins.resolve_secret, root, production=production, kind=kind)
        except NotReadyError as error:
            check.state, check.cause = "not ready", str(error)
            check.next_step = next_step_of(server, error.missing)
            for name in error.missing:
                missing.setdefault(name, []).append(server.name)
            if not error.missing:
                check.state = "failed"
        else:
            if target.command:
                path = _found(target)
                programs.setdefault((target.command, path), []).append(server.name)
                if path is None:
                    check.state, check.cause = "no program", f"`{target.command}` was not found"
                    check.next_step = f"install `{target.command}`, or correct `command`"
        checks.append(check)
    return MachineReport(
        plugins=plugin_checks(plugins),
        workspace=root,
        programs=[
            ProgramCheck(program=name, path=path, servers=tuple(users)) for (name, path), users in programs.items()
        ],
        variables=[MissingVariable(name=name, servers=tuple(users)) for name, users in sorted(missing.items())],
        servers=checks,
    )


def _found(target: ServerTarget) -> str | None:
    """Return where the program of a server is, as the start of a process looks for it."""
    import os
    import shutil

    command = target.command or ""
    if "/" in command:
        command = str(Path(target.cwd or ".") / command)
    return shutil.which(command, path=target.env.get("PATH", os.environ.get("PATH")))


def start(
    report: MachineReport, build: Build, plugins: Plugins, servers: Iterable[Server], progress: Any
) -> Sequence[str]:
    """Start servers at the same time and note how each ended; return those that an interruption left waiting."""
    import asyncio

    import click

    from octoc.cli.run_async import run
    from octoc.cli.server_failures import next_step_of
    from octoc.compiler.pin.live import LiveServers
    from octoc.compiler.pin.record import NotPinned

    checks: Mapping[str, ServerCheck] = {one.name: one for one in report.servers}
    waiting: dict[str, float] = {}

    def take(server: Server, answer: Any) -> None:
        check = checks[server.name]
        check.seconds = round(asyncio.get_running_loop().time() - waiting[server.name], 2)
        if isinstance(answer, NotPinned):
            check.state, check.cause = "failed", " ".join(answer.reason.split())
            check.next_step = next_step_of(server, answer.needs)
        else:
            check.state, check.tools = "ok", len(answer.tools)

    live = LiveServers(
        servers=tuple(servers),
        plugins=plugins,
        folder=report.workspace or Path(),
        production=build.settings.mode == "production",
    )
    try:
        run(live.ask(take, progress, waiting))
    except (KeyboardInterrupt, click.exceptions.Abort):
        for name in waiting:
            checks[name].state = "no answer"
        return tuple(waiting)
    return ()
