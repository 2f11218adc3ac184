"""Real servers over stdio: the official Python ones of the newer era, and the TypeScript SDK's of the older."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from octoc.plugin import Connection, Host, Progress, ServerListing, ServerTarget, ToolCall, ToolResult
from octoc_transport_mcp import octoc_make_transport

Scenario = Callable[[Connection], Awaitable[None]]
Finder = Callable[[str], Path]


def run(command: Path | str, args: Sequence[str], scenario: Scenario, host: Host | None = None) -> None:
    """Run `scenario` on a connection to a server, which is closed in the end."""

    async def with_connection() -> None:
        transport = octoc_make_transport("stdio")
        assert transport is not None
        target = ServerTarget(name="peer", transport="stdio", command=str(command), args=tuple(args), timeout_s=60.0)
        connection = await transport.connect(target, host)
        try:
            await scenario(connection)
        finally:
            await connection.close()

    asyncio.run(with_connection())


async def answer_of(connection: Connection, tool: str, **arguments: Any) -> ToolResult:
    """The result of a call that must not fail."""
    outcome = await connection.call(ToolCall(tool=tool, arguments=arguments, timeout_s=60.0))
    assert isinstance(outcome, ToolResult), outcome
    return outcome


def test_the_time_server_answers_in_the_newer_era(python_server: Finder) -> None:
    """Its tools are listed and its structured answers keep their structure."""
    found: list[ServerListing] = []

    async def scenario(connection: Connection) -> None:
        found.append(await connection.list_tools())
        answer = await answer_of(
            connection, "convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"
        )
        assert answer.structured["target"]["timezone"] == "Asia/Tokyo"

    run(python_server("mcp-server-time"), ["--local-timezone=UTC"], scenario)
    assert found[0].protocol_version == "2026-07-28"
    assert {tool.name for tool in found[0].tools} == {"get_current_time", "convert_time"}


def test_the_git_server_reads_a_repository(python_server: Finder, tmp_path: Path) -> None:
    """A repository's status is read, and another folder is the server's own error."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path / "repo")], check=True)

    async def scenario(connection: Connection) -> None:
        listing = await connection.list_tools()
        assert listing.protocol_version == "2026-07-28"
        answer = await answer_of(connection, "git_status", repo_path=str(tmp_path / "repo"))
        assert not answer.is_error
        assert "No commits yet" in answer.text
        assert (await answer_of(connection, "git_status", repo_path=str(tmp_path))).is_error

    run(python_server("mcp-server-git"), [], scenario)


def test_the_fetch_server_refuses_in_its_own_words(python_server: Finder) -> None:
    """A loopback address is refused by the server; its error is a result that says so."""

    async def scenario(connection: Connection) -> None:
        assert (await connection.list_tools()).protocol_version == "2026-07-28"
        answer = await answer_of(connection, "fetch", url="http://127.0.0.1:9/")
        assert answer.is_error
        assert "127.0.0.1" in answer.text

    run(python_server("mcp-server-fetch"), [], scenario)


@pytest.mark.node
def test_the_everything_server_uses_all_that_a_host_offers(node_server: Finder, tmp_path: Path) -> None:
    """Progress, structure, roots, an answer of the user, a completion, and news of tools: in the older era."""
    heard: list[Progress] = []
    changed: list[str] = []
    asked: list[Mapping[str, Any]] = []

    async def elicit(server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(params)
        return {"action": "accept", "content": {"name": f"octo of {server}", "check": True}}

    async def sample(server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(params)
        text = f"a word for {server}"
        return {"role": "assistant", "content": {"type": "text", "text": text}, "model": "m"}

    async def roots(_: str) -> Sequence[Mapping[str, Any]]:
        return [{"uri": tmp_path.as_uri(), "name": "here"}]

    async def scenario(connection: Connection) -> None:
        for _ in range(3000):
            if changed:
                break
            await asyncio.sleep(0.02)
        listing = await connection.list_tools()
        assert listing.protocol_version == "2025-11-25"
        assert {"get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"} <= {
            tool.name for tool in listing.tools
        }
        slow = ToolCall(
            tool="trigger-long-running-operation",
            arguments={"duration": 0.4, "steps": 4},
            timeout_s=60.0,
            on_progress=heard.append,
        )
        assert (await connection.call(slow)).ok
        weather = await answer_of(connection, "get-structured-content", location="Chicago")
        assert set(weather.structured) == {"temperature", "conditions", "humidity"}
        assert json.loads(weather.text) == weather.structured
        assert tmp_path.as_uri() in (await answer_of(connection, "get-roots-list")).text
        assert "octo of peer" in (await answer_of(connection, "trigger-elicitation-request")).text
        assert "a word for peer" in (await answer_of(connection, "trigger-sampling-request", prompt="hi")).text

    host = Host(elicit=elicit, sample=sample, roots=roots, tools_changed=changed.append)
    run("node", [str(node_server("server-everything"))], scenario, host)
    assert [progress.done for progress in heard] == [1, 2, 3, 4]
    assert {progress.total for progress in heard} == {4}
    assert set(changed) == {"peer"}
    assert len(asked) == 2


@pytest.mark.node
def test_the_everything_server_hides_what_a_host_does_not_offer(node_server: Finder) -> None:
    """Without callbacks nothing is declared, so its tools that need them are not there, and the others answer."""

    async def scenario(connection: Connection) -> None:
        names = {tool.name for tool in (await connection.list_tools()).tools}
        assert "echo" in names
        assert not {"get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"} & names
        assert "42" in (await answer_of(connection, "get-sum", a=20, b=22)).text

    run("node", [str(node_server("server-everything"))], scenario)


@pytest.mark.node
def test_the_filesystem_server_keeps_to_its_folder(node_server: Finder, tmp_path: Path) -> None:
    """A file inside is read, with its structured copy; one outside is the server's own error."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "note.txt").write_text("tentacles", encoding="utf-8")
    (tmp_path / "outside.txt").write_text("no", encoding="utf-8")

    async def scenario(connection: Connection) -> None:
        assert (await connection.list_tools()).protocol_version == "2025-11-25"
        answer = await answer_of(connection, "read_text_file", path=str(inside / "note.txt"))
        assert answer.text == "tentacles"
        assert answer.structured == {"content": "tentacles"}
        refused = await answer_of(connection, "read_text_file", path=str(tmp_path / "outside.txt"))
        assert refused.is_error

    run("node", [str(node_server("server-filesystem")), str(inside)], scenario)
