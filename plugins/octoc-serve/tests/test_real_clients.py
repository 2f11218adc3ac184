"""Clients that people use: each lists, searches and calls, and where it can reads, fills a prompt and answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

MODULES = Path(sys.prefix) / "node22" / "node_modules"
NODE = MODULES / ".bin" / "node"
FOREIGN = Path(__file__).parent / "foreign"
CALLED = "This is a simple text response for testing."
RESOURCE = "This is the content of the static text resource."
PROMPT = "This is a simple prompt for testing."
LACKING: Mapping[str, frozenset[str]] = {"@openai/agents": frozenset({"prompts", "prompt", "answered"})}
"""A library -> what it has no function for."""

Run = Callable[..., None]


@pytest.fixture
def url(everything: Any, serving: Callable[..., Any]) -> str:
    """The address of a gateway whose agent searches for the tools of everything."""
    return str(serving(everything.bundle, "supervisor").url)


@pytest.fixture
def ran(tmp_path: Path) -> Callable[..., str]:
    """A function that runs a program of a package, in a home of its own, and returns its output."""

    def run(package: str, *command: str | Path) -> str:
        env = environment(package, tmp_path)
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=300, check=False, env=env, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def environment(package: str, home: Path) -> dict[str, str]:
    """Return the environment of a program of a package. Skips where the package is not installed."""
    if not (MODULES / package).is_dir() or not NODE.exists():
        pytest.skip(f"`{package}` is not installed: run `make conformance` where npm works")
    path = os.pathsep.join([str(NODE.parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "HOME": str(home), "MCP_REMOTE_CONFIG_DIR": str(home / "remote")}


def check(seen: Mapping[str, Any], *, lacking: frozenset[str] = frozenset()) -> None:
    """Compare what a client saw with what there is."""
    assert {"find_tools", "call_mcp_tool"} <= set(seen["tools"])
    assert "test_simple_text" in seen["found"]
    assert seen["called"] == CALLED
    assert (
        seen.keys()
        == {*("tools", "found", "called", "resources", "resource", "prompts", "prompt", "answered")} - lacking
    )
    assert "test://static-text" in seen["resources"]
    assert seen["resource"] == RESOURCE
    if "prompts" not in lacking:
        assert "test_simple_prompt" in seen["prompts"]
        assert seen["prompt"] == PROMPT
    if "answered" not in lacking:
        assert "action=accept" in seen["answered"]
        assert "octo@example.com" in seen["answered"]


async def seen_by(client: Client) -> dict[str, Any]:
    """Return what a client of the SDK sees."""

    async def call(name: str, **arguments: Any) -> str:
        content: Any = (await client.call_tool(name, arguments)).content
        return str(content[0].text)

    resource: Any = (await client.read_resource("test://static-text")).contents[0]
    prompt: Any = (await client.get_prompt("test_simple_prompt")).messages[0].content
    return {
        "tools": [tool.name for tool in (await client.list_tools()).tools],
        "found": await call("find_tools", query="simple text"),
        "called": await call("call_mcp_tool", tool_name="test_simple_text", arguments={}),
        "resources": [str(one.uri) for one in (await client.list_resources()).resources],
        "resource": resource.text,
        "prompts": [one.name for one in (await client.list_prompts()).prompts],
        "prompt": prompt.text,
        "answered": await call("call_mcp_tool", tool_name="test_elicitation", arguments={"message": "Who?"}),
    }


async def elicit(*_: Any) -> ElicitResult:
    """Answer a question."""
    return ElicitResult(action="accept", content={"username": "octo", "email": "octo@example.com"})


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_the_second_line_of_the_python_sdk(
    run: Run, everything: Any, serving: Callable[..., Any], connect: Callable[..., Any], era: str
) -> None:
    """It can do all of it, in both eras."""
    gateway = serving(everything.bundle, "supervisor")

    async def scenario() -> None:
        async with connect(era, gateway, elicitation_callback=elicit) as heard:
            check(await seen_by(heard.client))

    run(scenario)


def test_the_first_line_of_the_python_sdk(url: str) -> None:
    """It can do all of it; it is what langchain-mcp-adapters uses."""
    python = Path(sys.prefix) / "langchain" / "bin" / "python"
    if not python.is_file():
        pytest.skip("`langchain-mcp-adapters` is not installed: run `make setup` where pip works")
    command = [str(python), str(FOREIGN / "python_client.py"), url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    check(json.loads(done.stdout))


@pytest.mark.node
@pytest.mark.parametrize("package", ["sdk", "client"])
def test_the_sdk_of_npm(url: str, package: str) -> None:
    """Both lines of its releases can do all of it."""
    modules = Path(sys.prefix) / "node" / "node_modules"
    if shutil.which("node") is None or not (modules / "@modelcontextprotocol" / package / "dist").is_dir():
        pytest.skip(f"`@modelcontextprotocol/{package}` is not installed: run `make setup` where npm works")
    wanted = {"modules": str(modules), "package": package, "task": "offers", "url": url}
    command = ["node", str(FOREIGN / "npm_client.mjs"), json.dumps(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    check(json.loads(done.stdout))


@pytest.mark.node
@pytest.mark.parametrize("client", ["@openai/agents", "@ai-sdk/mcp"])
def test_a_library_of_npm(url: str, ran: Callable[..., str], client: str) -> None:
    """`@ai-sdk/mcp` can do all of it; `@openai/agents` has no functions for prompts and questions."""
    wanted = {"modules": str(MODULES), "client": client, "url": url}
    seen = json.loads(ran(client, NODE, FOREIGN / "node_clients.mjs", json.dumps(wanted)))
    check(seen, lacking=LACKING.get(client, frozenset()))


@pytest.mark.node
def test_mcp_remote(run: Run, url: str, tmp_path: Path) -> None:
    """A client over stdio can do all of it through the bridge."""
    env = environment("mcp-remote", tmp_path)
    words = [str(MODULES / "mcp-remote" / "dist" / "proxy.js"), url, "--allow-http", "--transport", "http-only"]
    where = StdioServerParameters(command=str(NODE), args=words, env=env)

    answers: Any = {"elicitation_callback": elicit}

    async def scenario() -> None:
        async with Client(where, mode="legacy", **answers) as client:
            check(await seen_by(client))

    run(scenario)


@pytest.mark.node
def test_the_inspector(url: str, ran: Callable[..., str]) -> None:
    """Its command line lists, searches, calls, reads and fills; it answers no questions."""

    def inspect(method: str, *arguments: str) -> Any:
        package, program = "@modelcontextprotocol/inspector", MODULES / ".bin" / "mcp-inspector"
        return json.loads(ran(package, NODE, program.resolve(), "--cli", url, "--method", method, *arguments))

    def call(tool: str, *arguments: str) -> str:
        words = [word for argument in arguments for word in ("--tool-arg", argument)]
        return str(inspect("tools/call", "--tool-name", tool, *words)["content"][0]["text"])

    seen = {
        "tools": [tool["name"] for tool in inspect("tools/list")["tools"]],
        "found": call("find_tools", "query=simple text"),
        "called": call("call_mcp_tool", "tool_name=test_simple_text", "arguments={}"),
        "resources": [one["uri"] for one in inspect("resources/list")["resources"]],
        "resource": inspect("resources/read", "--uri", "test://static-text")["contents"][0]["text"],
        "prompts": [one["name"] for one in inspect("prompts/list")["prompts"]],
        "prompt": inspect("prompts/get", "--prompt-name", "test_simple_prompt")["messages"][0]["content"]["text"],
    }
    check(seen, lacking=frozenset({"answered"}))


@pytest.mark.node
def test_claude_code_connects(url: str, ran: Callable[..., str]) -> None:
    """`claude mcp list` reports the gateway as connected; the rest of it needs an account."""
    package, program = "@anthropic-ai/claude-code", MODULES / ".bin" / "claude"
    ran(package, program, "mcp", "add", "--transport", "http", "octoc", url)
    assert f"octoc: {url} (HTTP) - ✔ Connected" in ran(package, program, "mcp", "list")
