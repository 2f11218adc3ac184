"""`octoc auth`: logs in to servers that take no key, shows where one is logged in, and logs out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from octoc.cli.options import bundle_option, completes, format_options, trust_option, workspace_option

if TYPE_CHECKING:
    from octoc.bundle.model import ServerEntry
    from octoc.plugin import Login, LoginState, ServerTarget
    from octoc.runtime import Runtime

_TRANSPORT = "transport-mcp"


@click.group
def command() -> None:
    """Log in to servers by OAuth, show logins, log out.

    Tokens are stored for your user only, in `$XDG_STATE_HOME/octoc/oauth` (`~/.local/state/octoc/oauth`), never in the
    workspace or a bundle. octoc renews them automatically for as long as the server allows.
    """


@command.command
@click.argument("server", shell_complete=completes("servers"))
@click.option("--no-browser", is_flag=True, help="Only print the address; open it in any browser.")
@click.option("--timeout", type=click.FloatRange(min=1), default=300.0, show_default=True, help="Seconds to wait.")
@workspace_option
@bundle_option
@trust_option
def login(
    server: str, *, no_browser: bool, timeout: float, workspace: Path | None, bundle: Path | None, trust: Path | None
) -> int:
    """Log in to SERVER in a browser.

    After the login the browser calls this machine back, by default on port 9876.
    """

    def show(address: str) -> None:
        click.echo(f"open this address to log in to `{server}`:\n{address}", err=True)
        if not no_browser:
            _open(address)

    async def work(runtime: Runtime) -> LoginState:
        target = _target(runtime, server)
        return await _login_of(runtime, target).login(target, show, timeout)

    state = _run(bundle, workspace, trust, work)
    click.echo(f"logged in to `{server}`{_until(state)}")
    return 0


@command.command
@click.argument("server", required=False, shell_complete=completes("servers"))
@workspace_option
@bundle_option
@trust_option
@format_options("text", "json")
def status(
    server: str | None, workspace: Path | None, bundle: Path | None, trust: Path | None, output_format: str
) -> int:
    """Show the login of SERVER, or of every server that has logins.

    octoc connects to no server and shows no token. With SERVER the exit status is 1 when a login is needed.
    """

    async def work(runtime: Runtime) -> list[dict[str, Any]]:
        if server is not None:
            _entry(runtime, server)
        names = [one.name for one in runtime.bundle.servers if _has_logins(runtime, one)]
        found = (_shown(runtime, name, named=server is not None) for name in names if server in {None, name})
        return [one for one in found if one is not None]

    rows = _run(bundle, workspace, trust, work)
    if output_format == "json":
        import json

        click.echo(json.dumps(rows, indent=2))
    else:
        from octoc.cli.tables import print_table

        cells = [(row["server"], row["state"], row["expires"] or "", row["issuer"], row["note"]) for row in rows]
        print_table("logins", ("server", "state", "expires", "issuer", "note"), cells)
    return int(server is not None and not any(row["state"] in {"valid", "refreshable"} for row in rows))


@command.command
@click.argument("server", shell_complete=completes("servers"))
@workspace_option
@bundle_option
@trust_option
def logout(server: str, workspace: Path | None, bundle: Path | None, trust: Path | None) -> int:
    """Forget the login to SERVER on this machine.

    octoc does not notify the server: its token stays valid until it expires or is revoked there.
    """

    async def work(runtime: Runtime) -> bool:
        target = _target(runtime, server)
        return _login_of(runtime, target).logout(target)

    was = _run(bundle, workspace, trust, work)
    click.echo(f"logged out of `{server}`" if was else f"there was no login to `{server}`")
    return 0


def _run(bundle: Path | None, workspace: Path | None, trust: Path | None, work: Callable[[Runtime], Any]) -> Any:
    from octoc.cli.failures import UserError
    from octoc.cli.workspace import target_of, with_runtime
    from octoc.plugin import ConnectFailedError
    from octoc.plugin.targets import NotReadyError

    try:
        return with_runtime(target_of(bundle, workspace, trust), work)
    except (ConnectFailedError, NotReadyError) as error:
        raise UserError(str(error)) from None
    except OSError as error:
        hint = "set `$XDG_STATE_HOME` to a writable folder"
        raise UserError(f"the login could not be stored: {error.strerror}", hint) from None


def _entry(runtime: Runtime, server: str) -> Any:
    from octoc.cli.failures import UserError
    from octoc.runtime.values import UnknownNameError

    entry = runtime.servers.get(server)
    if entry is None:
        raise UnknownNameError("server", server, runtime.servers)
    if not _has_logins(runtime, entry):
        raise UserError(
            f"server `{server}` uses transport `{entry.transport}`, which has no logins",
            "set its credential by a reference in `env` or `auth`",
        )
    return entry


def _has_logins(runtime: Runtime, entry: ServerEntry) -> bool:
    from octoc.plugin.transports import transport_kind

    return transport_kind(runtime.plugins, entry.transport).has_logins


def _target(runtime: Runtime, server: str) -> ServerTarget:
    """Return the server, its references resolved. Raises: NotReadyError, UserError, UnknownNameError."""
    from octoc.plugin.targets import make_target
    from octoc.plugin.transports import transport_kind

    production = runtime.bundle.settings.mode == "production"
    entry = _entry(runtime, server)
    return make_target(
        entry,
        runtime.plugins.resolve_secret,
        runtime.workspace,
        production=production,
        kind=transport_kind(runtime.plugins, entry.transport),
    )


def _login_of(runtime: Runtime, target: ServerTarget) -> Login:
    from octoc.cli.failures import UserError, plugin_missing

    found = runtime.plugins.make_login(target.transport)
    if found is None and _TRANSPORT in runtime.plugins.missing:
        raise plugin_missing(_TRANSPORT)
    if found is None:
        raise UserError(f"no installed plugin logs in to servers of kind `{target.transport}`")
    return found


def _shown(runtime: Runtime, server: str, *, named: bool) -> dict[str, Any] | None:
    """Return the row of one server; None for one that takes a key and was not asked for."""
    from octoc.plugin import ConnectFailedError, LoginState
    from octoc.plugin.targets import NotReadyError

    try:
        target = _target(runtime, server)
        state, note = _login_of(runtime, target).status(target), ""
    except (ConnectFailedError, NotReadyError) as error:
        if isinstance(error, ConnectFailedError) and not named:
            return None
        state, note = LoginState(state="none"), str(error)
    return {
        "server": server,
        "state": state.state,
        "expires": _time(state.expires_at),
        "issuer": state.issuer,
        "scopes": list(state.scopes),
        "note": note or (f"octoc auth login {server}" if state.state in {"none", "expired"} else ""),
    }


def _until(state: LoginState) -> str:
    return "" if state.expires_at is None else f", until {_time(state.expires_at)}"


def _time(seconds: float | None) -> str | None:
    """Return a time as ISO 8601 in UTC, to the second."""
    import datetime as dt

    return None if seconds is None else dt.datetime.fromtimestamp(int(seconds), dt.UTC).isoformat()


def _open(address: str) -> None:
    import webbrowser

    # If no browser is found, the address is still on the screen.
    webbrowser.open(address)
