"""What stdio servers inherit of the environment."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from octoc.bundle.model import ServerEntry
from octoc.plugin.protocols import ServerTarget
from octoc.plugin.targets import make_target
from octoc.server_environment import usual_environment
from octoc_transport_mcp.process import ServerProcess


def test_the_usual_variables_are_inherited_and_no_others() -> None:
    """Network, locale and time zone are passed on; tokens, passwords of proxies and shell functions are not."""
    given = {
        "PATH": "/bin", "LANG": "de_DE.UTF-8", "LC_TIME": "C", "TZ": "Europe/Berlin", "NO_PROXY": "localhost",
        "HTTPS_PROXY": "http://proxy.example:3128", "https_proxy": "proxy.example:3128",
        "SSL_CERT_FILE": "/etc/ssl/corp.pem",
    }  # fmt: skip
    others = {
        "GITHUB_TOKEN": "x", "AWS_SECRET_ACCESS_KEY": "y", "PYTHONPATH": "z", "TERM": "() { :; }",
        "HTTP_PROXY": "http://me:hunter2@proxy.example:3128", "ALL_PROXY": "me:hunter2@proxy.example:1080",
    }  # fmt: skip
    assert usual_environment({**given, **others}) == given


def test_a_process_gets_them_and_what_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real server sees the usual variables and its target's `env`, and nothing else of this process."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.setenv("OCTOC_TEST_SECRET", "hidden")
    script = "import os, sys; sys.stderr.write(repr([os.environ.get(n) for n in sys.argv[1:]]))"
    target = ServerTarget(
        name="s",
        transport="stdio",
        command=sys.executable,
        args=("-c", script, "TZ", "OWN", "OCTOC_TEST_SECRET"),
        env={"OWN": "1"},
    )

    async def run() -> tuple[str, ...]:
        process = await ServerProcess.start(target)
        assert await process.wait_exit(120)
        await process.stop()
        return process.stderr.lines

    assert asyncio.run(run()) == ("['Europe/Berlin', '1', None]",)


def test_named_variables_are_inherited_and_kept_out_of_messages() -> None:
    """`inherit_env` passes on what is set, below the server's own `env`; the values count as secrets."""
    server = ServerEntry(name="s", transport="stdio", command="x", env={"B": "own"}, inherit_env=("A", "B", "MISSING"))
    values = {"A": "value-of-a", "B": "value-of-b"}
    target = make_target(server, values.get, Path("/ws"), production=False)
    assert target.env == {"A": "value-of-a", "B": "own"}
    assert "value-of-a" in target.secrets
