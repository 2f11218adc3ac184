"""References of a server's definition: resolved when it is connected, and named when they are missing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from octoc.results import ToolFailure

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet


def test_references_are_resolved_when_a_server_is_connected(fleet: Fleet, tmp_path: Path) -> None:
    """Variables, folders and a `.env` file reach the transport resolved, and what is set in `env` beats the file."""
    (tmp_path / "x.env").write_text("# c\nexport A=\"from file\"\nB='b'\nnothing\n", encoding="utf-8")
    fleet.env = {"TOKEN": "s3cret-value"}
    server = fleet.server(
        "s",
        ["x"],
        args=("--dir=${workspaceFolder}", "${NONE:-default}"),
        env={"T": "{{ENV:TOKEN}}", "A": "set"},
        env_file="x.env",
        cwd="sub",
        headers={"Authorization": "Bearer ${TOKEN}"},
        auth={"scopes": ["${TOKEN}"], "port": 1},
    )
    fleet.agent(proxy=True)
    asyncio.run(fleet.open().session().call("s/x"))
    (target,) = server.targets
    assert target.args == (f"--dir={tmp_path.as_posix()}", "default")
    assert target.env == {"T": "s3cret-value", "A": "set", "B": "b"}
    assert (target.cwd, target.headers) == (str(tmp_path / "sub"), {"Authorization": "Bearer s3cret-value"})
    assert target.auth == {"scopes": ["s3cret-value"], "port": 1}
    assert "s3cret-value" in target.secrets


def test_an_unset_variable_is_named(fleet: Fleet) -> None:
    """A server that needs a variable that is not set is not connected, and the failure names it."""
    server = fleet.server("s", ["x"], env={"T": "${TOKEN}"}, args=("{{INPUT:KEY}}",))
    fleet.agent(proxy=True)
    outcome = asyncio.run(fleet.open().session().call("s/x"))
    assert isinstance(outcome, ToolFailure)
    assert outcome.kind == "not_ready"
    assert outcome.message == "server `s` needs `TOKEN`, `KEY`, which are not set"
    assert server.connects == 0


def test_a_missing_env_file_is_named(fleet: Fleet) -> None:
    """A server whose `.env` file is not there is not connected, and the failure names the file."""
    fleet.server("s", ["x"], env_file="none.env")
    fleet.agent(proxy=True)
    outcome = asyncio.run(fleet.open().session().call("s/x"))
    assert isinstance(outcome, ToolFailure)
    assert outcome.message.startswith("server `s` needs the file `/")
    assert outcome.message.endswith("/none.env`, which cannot be read: No such file or directory")


def test_no_secret_is_in_a_failure(fleet: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    """A value that was resolved for a server is cut out of what it says when it fails."""
    fleet.env = {"TOKEN": "s3cret-value"}
    fleet.server("s", ["x"], env={"T": "${TOKEN}"}).broken = "bad token s3cret-value"
    fleet.capability("cap", fleet.grant("s"))
    fleet.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            outcome = await session.call("s/x")
            assert outcome.text == "[Tool error] s__x: bad token ***"
            assert "s3cret-value" not in await session.activate("cap")

    asyncio.run(run())
    assert "s3cret-value" not in caplog.text
