"""The page on REST, done: its host serves, its workspace is pinned, built and called."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from octoc.cli.root import root as cli
from octoc_transport_rest.host import serve

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "rest.md").read_text(encoding="utf-8")
URL = "http://127.0.0.1:8080"
TOKEN = "let-me-in"


def block(language: str) -> str:
    """Return the page's block of a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    """The page's tool, behind its token, is recorded, compiled and called by its own commands."""
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
