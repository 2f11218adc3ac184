"""Capabilities of high trust: neither the model nor a message activates them, and a name out of reach is unknown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.plugin import PythonTool
from octoc.results import ToolFailure
from octoc.runtime import Runtime, Session
from octoc.testing import WorkspaceBuilder

TRIGGERS = ["hand this to another agent", "let a specialist do it", "split this among agents"]
UNKNOWN = "Capability '{0}' not found: this agent has no capability of that name"
Run = Callable[[Session], Awaitable[Any]]


def _provider(server: str) -> str:
    return (
        f"# Title: {server}\n# Description: About {server}\n\n"
        f'[roles.mcp]\nserver_refs = ["{server}"]\nallowed_tools = ["{server}:*"]\n\n'
        f'[[mcp.servers]]\nname = "{server}"\ntype = "builtin"\ntimeout_seconds = 30\ntools = []\n'
    )


def _workspace(root: Path, *, domains: str = "", **settings: Any) -> WorkspaceBuilder:
    """Return a workspace of `plain`, `quiet` (no config.toml), `delegation` (server `agent`) and `films` (a domain)."""
    routing = {"gate": "octomind", "threshold": 0.0, "margin": 0.0, **settings.pop("routing", {})}
    builder = WorkspaceBuilder(root, routing=routing, **settings).tap()
    triggers = {"plain": ["list the notes", "read my notes", "which notes are there"], "delegation": TRIGGERS}
    triggers["films"] = ["find a film", "what is on tonight", "rate this film"]
    servers = {"plain": "notes", "quiet": "hush", "delegation": "agent", "films": "films"}
    for name, server in servers.items():
        folder = f"taps/local/capabilities/{name}"
        builder.file(f"{folder}/default.toml", _provider(server))
        if name in triggers:
            own = 'domains = ["video"]\n' if name == "films" else ""
            builder.file(f"{folder}/config.toml", f"triggers = {triggers[name]}\n{own}".replace("'", '"'))
    builder.octomind_agent("office", "clerk")
    builder.octomind_agent("office", "chief", capabilities=("quiet", "delegation"))
    return builder


def _in_session(builder: WorkspaceBuilder, run: Run, agent: str = "office:clerk") -> Any:
    outcome = builder.build()
    bundle = outcome.bundle
    assert bundle is not None, outcome.diagnostics

    async def go() -> Any:
        async with Runtime.open(bundle) as runtime:
            for server in ("notes", "hush", "agent", "films"):
                tool = PythonTool(name="do", description="Does it", input_schema={}, handler=lambda _: "done")
                runtime.bind(server, [tool])
            return await run(runtime.session(agent))

    return asyncio.run(go())


async def _enable(session: Session, name: str) -> str:
    return (await session.call("capability", {"action": "enable", "name": name})).text


@pytest.mark.parametrize("name", ["quiet", "delegation"])
@pytest.mark.parametrize("agent", ["office:clerk", "supervisor"])
def test_the_model_cannot_enable_what_is_reserved(tmp_path: Path, name: str, agent: str) -> None:
    """It is not listed and not discovered, and enabling it is answered as for an unknown name."""

    async def run(session: Session) -> None:
        assert await _enable(session, name) == UNKNOWN.format(name)
        assert session.capabilities == ()
        listed = await session.call("capability", {"action": "list"})
        assert "plain" in listed.text
        assert name not in listed.text
        found = await session.call("capability", {"action": "discover", "intent": TRIGGERS[0]})
        assert name not in found.text

    _in_session(_workspace(tmp_path), run, agent)


def test_no_message_activates_what_is_reserved(tmp_path: Path) -> None:
    """Its own trigger, word by word, does not."""

    async def run(session: Session) -> tuple[str, ...]:
        await session.on_user_message(TRIGGERS[0])
        return session.capabilities

    assert "delegation" not in _in_session(_workspace(tmp_path), run)


def test_no_skill_activates_what_is_reserved(tmp_path: Path) -> None:
    """A skill that asks for it is used without it, and says so."""

    async def run(session: Session) -> str:
        change = await session.use_skill("work")
        assert session.capabilities == ()
        return change.text

    builder = _workspace(tmp_path).skill("work", capabilities=["quiet"])
    assert UNKNOWN.format("quiet") in _in_session(builder, run)


@pytest.mark.parametrize("name", ["quiet", "delegation"])
def test_the_host_activates_what_is_reserved(tmp_path: Path, name: str) -> None:
    """Then the model sees, calls and disables it, and cannot bring it back."""

    async def run(session: Session) -> None:
        assert "enabled" in await session.activate(name)
        assert session.capabilities == (name,)
        assert f"[active] {name}" in (await session.call("capability", {"action": "list"})).text
        assert "already active" in await _enable(session, name)
        tool = "hush__do" if name == "quiet" else "agent__do"
        assert tool in [one["name"] for one in session.tools("mcp")]
        assert (await session.call(tool, {})).ok
        assert "disabled" in await session.deactivate(name)
        assert await _enable(session, name) == UNKNOWN.format(name)
        gone = await session.call(tool, {})
        assert isinstance(gone, ToolFailure)
        assert gone.kind == "not_found"

    _in_session(_workspace(tmp_path), run)


def test_an_agents_file_names_what_is_reserved(tmp_path: Path) -> None:
    """It has the tools from the start."""

    async def run(session: Session) -> set[str]:
        return {str(one["name"]) for one in session.tools("mcp")}

    assert {"hush__do", "agent__do"} <= _in_session(_workspace(tmp_path), run, "office:chief")


def test_the_workspace_allows_what_would_be_reserved(tmp_path: Path) -> None:
    """With `allow_high_trust` the model enables it, and its triggers count."""

    async def run(session: Session) -> None:
        assert "enabled" in await _enable(session, "quiet")
        await session.on_user_message(TRIGGERS[0])
        assert set(session.capabilities) == {"quiet", "delegation"}

    _in_session(_workspace(tmp_path, routing={"allow_high_trust": ["quiet", "delegation"]}), run)


def test_a_name_that_is_allowed_has_to_exist(tmp_path: Path) -> None:
    """A misspelt one is an error with its place."""
    outcome = _workspace(tmp_path, routing={"allow_high_trust": ["delegaton"]}).build()
    (found,) = [one for one in outcome.diagnostics if one.rule.code == "OCT304"]
    assert found.message == "`allow_high_trust` names capability `delegaton`, which no tap has"


@pytest.mark.parametrize(
    "settings, hidden",
    [
        ({}, False),
        ({"scopes": {"profile": "allow"}}, False),
        ({"scopes": {"profile": "deny"}}, True),
        ({"workspace": {"mode": "production"}, "scopes": {"profile": "allow"}}, True),
    ],
)
def test_a_capability_out_of_reach_is_an_unknown_one(
    tmp_path: Path, settings: dict[str, dict[str, Any]], *, hidden: bool
) -> None:
    """In production and under scopes; elsewhere Octomind's text names the domains."""
    builder = _workspace(tmp_path, name="acme")
    for section, values in settings.items():
        builder.settings(section, **values)
    if settings.get("scopes", {}).get("profile") == "deny":
        builder.file("scopes/all.toml", '[[grants]]\nagents = "*"\ncapabilities = ["plain"]\n')

    async def run(session: Session) -> tuple[str, str]:
        return await _enable(session, "films"), await _enable(session, "absent")

    films, absent = _in_session(builder, run)
    assert absent == UNKNOWN.format("absent")
    assert films == UNKNOWN.format("films") if hidden else films.startswith("Capability 'films' is bound to domains")


def test_a_table_of_scopes_hides_domains_although_it_limits_nothing(tmp_path: Path) -> None:
    """An area alone withholds nothing, and still the answer is that for an unknown name."""

    async def run(session: Session) -> str:
        return await _enable(session, "films")

    builder = _workspace(tmp_path).file("scopes/all.toml", '[areas.office]\nagents = ["office:clerk"]\n')
    assert _in_session(builder, run) == UNKNOWN.format("films")
