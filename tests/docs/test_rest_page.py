"""The page on REST, done: its host serves, its workspace is pinned, built and called."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from octoc.bundle.model import AgentEntry, Bundle, Registry, Settings
from octoc.bundle.writer import write_bundle
from octoc.cli.root import root as cli
from octoc_transport_rest.host import serve

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "rest.md").read_text(encoding="utf-8")
URL = "http://127.0.0.1:8080"
TOKEN = "let-me-in"


def block(language: str) -> str:
    """Return the page's blocks of a language, one after another."""
    found = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return "\n".join(found)


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    """The page's commands record, compile and call its tool, which needs a token."""
    program: dict[str, Any] = {"__name__": "page"}
    exec(block("python"), program)  # noqa: S102  # the project's own page
    assert URL in PAGE
    export, *commands = block("sh").splitlines()
    assert export == f"export ORDERS_TOKEN={TOKEN}"
    answers: list[str] = []

    def run(line: str) -> None:
        words = re.findall(r"'[^']*'|\S+", line)
        name, *rest = (word.strip("'") for word in words[1:])
        arguments = [name, "--workspace", str(tmp_path), *rest]
        done = CliRunner().invoke(cli, arguments, env={"ORDERS_TOKEN": TOKEN})
        assert done.exit_code == 0, done.output
        answers.append(done.output)

    async def scenario() -> None:
        host = await serve([program["FIND_ORDER"]], token=TOKEN)
        # Another port than the page's, which may be taken; and the routing encoder is not what this is about.
        tmp_path.joinpath(".mcp.json").write_text(block("json").replace(URL, host.url), encoding="utf-8")
        tmp_path.joinpath("octoc.toml").write_text(block("toml"), encoding="utf-8")
        try:
            for line in commands:
                await asyncio.to_thread(run, line)
        finally:
            await host.close()

    asyncio.run(scenario())
    assert json.loads(answers[-1]) == {"id": 7, "tenant": None}


def test_an_agent_of_a_bundle_is_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page's function serves the tools of a bundle's agent, and needs a token."""
    program: dict[str, Any] = {"__name__": "page"}
    exec(block("python").replace("port=8080", "port=0"), program)  # noqa: S102  # another port than the page's
    bundle = Bundle(
        name="b",
        octoc_version="0",
        settings=Settings(),
        agents=(AgentEntry(name="clerk", kind="octo", registry=Registry(proxy=True)),),
    )
    path = tmp_path / "b.octoc"
    path.write_bytes(write_bundle(bundle, blobs={"tools": b"", "texts": b""}, arrays={}))

    def listed(url: str) -> list[str]:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        request = urllib.request.Request(f"{url}/tools", headers=headers)  # noqa: S310  # the host of this test
        with urllib.request.urlopen(request) as answer:  # noqa: S310  # as above
            return [tool["name"] for tool in json.load(answer)]

    async def scenario() -> list[str]:
        until = asyncio.Event()
        serving = asyncio.create_task(program["serve_agent"](path, "clerk", TOKEN, until))
        said = ""
        while not said and not serving.done():
            await asyncio.sleep(0.01)
            said = capsys.readouterr().out.strip()
        names = await asyncio.to_thread(listed, said)
        until.set()
        await serving
        return names

    assert asyncio.run(scenario()) == ["find_tools", "call_mcp_tool", "read_result"]
