"""The pages for those who come from Octo, Octomind and Octopus, done: their files are written, their commands run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from octoc.cli.root import root as cli
from octoc.compiler.structure.settings import load_settings
from octoc.diagnostics.model import DiagnosticSink
from octoc.plugin import PythonTool
from octoc_transport_rest.host import serve

PAGES = Path(__file__).resolve().parents[2] / "docs" / "migrate"
NAMES = ("from-octo", "from-octomind", "from-octopus")
# Every endpoint that Octopus's public pages name.
ENDPOINTS = (
    "GET {base}/tools",
    "POST {base}/tool/{name}/call",
    "GET {base}/health",
    "GET /api/mcp/servers/{id}/health",
    "POST /api/agents",
    "GET /api/agents",
    "POST /api/credentials",
    "POST /api/octopus/areas",
    "GET /api/octopus/areas",
    "GET /api/octopus/areas/{id}",
    "PATCH /api/octopus/areas/{id}/defaults",
    "POST /api/octopus/areas/{id}/agents",
    "POST /api/octopus/areas/{id}/user-groups",
    "POST /api/octopus/areas/{areaId}/tool-groups",
    "GET /api/octopus/areas/{areaId}/tool-groups",
    "POST /api/octopus/agents/{agentId}/tool-groups",
    "GET /api/octopus/sessions/{s}/turns/{t}/context",
)
# What a reader puts a name of their own in, or what is only spoken of.
_NOT_RUN = re.compile(r"\b[A-Z]{4,}\b|…|--who-can\Z|octoc (serve|test|auth)\Z")


def page(name: str) -> str:
    """Return the text of a page."""
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def steps(name: str) -> list[str]:
    """Return the lines of the page's shell blocks, in order."""
    return "".join(re.findall(r"^```sh\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)).splitlines()


def spoken_of(name: str) -> list[str]:
    """Return the commands that the page's text and tables name, each once, without those that need a name."""
    text = re.sub(r"^```.*?^```", "", page(name), flags=re.MULTILINE | re.DOTALL)
    return [line for line in dict.fromkeys(re.findall(r"`(octoc [^`]+)`", text)) if not _NOT_RUN.search(line)]


def write_files(name: str, folder: Path, change: Callable[[str], str] = lambda text: text) -> None:
    """Write the page's blocks that have a title as the files that they are."""
    found = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', page(name), re.MULTILINE | re.DOTALL)
    assert found
    for path, text in found:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(change(text), encoding="utf-8")


def run(line: str, environment: dict[str, str]) -> str:
    """Run one line of a page in the current folder, and return what it prints; it has to succeed."""
    done = CliRunner().invoke(cli, shlex.split(line)[1:], env=environment)
    assert done.exit_code == 0, f"{line}\n{done.output}"
    return str(done.stdout)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own, where the commands run."""
    made = tmp_path / "fleet"
    made.mkdir()
    monkeypatch.chdir(made)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return made


@pytest.fixture
def with_time(python_server: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The time server is on PATH."""
    folder = python_server("mcp-server-time").parent
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("with_time")
def test_an_octo_workspace_is_built_as_it_is(folder: Path) -> None:
    """Octo's own files are found, checked, recorded, built, shown and called, by the page's commands."""
    write_files("from-octo", folder)
    said = {line.split()[1]: run(line, {}) for line in steps("from-octo")}
    assert "found MCP file: .octo/.mcp.json\nfound agents: .octo/agents\n" in said["init"]
    assert "21:00" in said["call"]
    assert "clock" in said["show"]
    for line in spoken_of("from-octo"):
        run(line, {})
    # `exclude_tools`, and the difference of an agent with `tools` and one without.
    assert "get_current_time" not in run("octoc show tools", {})
    assert "convert_time" in run("octoc find 'convert a time' --agent helper", {})


@pytest.mark.usefixtures("with_time")
def test_an_octomind_tap_is_built_as_it_is(folder: Path) -> None:
    """A tap's capability, agent and skill are found, built, and a message is routed, by the page's commands."""
    write_files("from-octomind", folder)
    said = {line.split()[1]: run(line, {}) for line in steps("from-octomind")}
    assert "found tap: taps/mine" in said["init"]
    assert "clock" in said["show"]
    assert "decision: " in said["route"]
    for line in spoken_of("from-octomind"):
        run(line, {})
    assert "meeting-notes" in run("octoc show skills --agent assistant:general", {})


def test_an_octopus_export_is_built(folder: Path) -> None:
    """The page's export becomes a workspace; its tools are recorded, scoped and called by the page's commands."""

    def tool(name: str) -> PythonTool:
        schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
        return PythonTool(name=name, description=f"Does {name}", input_schema=schema, handler=lambda given: given)

    @contextlib.asynccontextmanager
    async def hosts() -> AsyncIterator[tuple[str, str]]:
        orders = await serve([tool("find_order"), tool("drop_order")], token="let-me-in")
        plugins = await serve([tool("ledger_read"), tool("ledger_post"), tool("search_docs")], token="let-me-in")
        try:
            yield orders.url, plugins.url
        finally:
            await orders.close()
            await plugins.close()

    async def scenario() -> dict[str, str]:
        environment: dict[str, str] = {}
        said: dict[str, str] = {}
        async with hosts() as (orders, plugins):
            write_files("from-octopus", folder, lambda text: text.replace("https://tools.acme.example", orders))
            for line in [*steps("from-octopus"), *spoken_of("from-octopus")]:
                if line.startswith("export "):
                    name, _, value = line.removeprefix("export ").partition("=")
                    environment[name] = value.replace("https://plugins.acme.example", plugins)
                elif not line.startswith("octoc init") or line not in said:
                    said[line] = await asyncio.to_thread(run, line, environment)
            said["orders"] = await asyncio.to_thread(run, "octoc call orders find_order '{\"id\": 7}'", environment)
        return said

    said = asyncio.run(scenario())
    assert "note: `userGroups` of area `Finance` has no place" in said["octoc init --from octopus export.json"]
    assert "cred:12" in said["octoc env"]
    assert '"id": 7' in said["orders"] or '"id":7' in said["orders"]
    who = {tool: run(f"octoc scope --who-can {tool}", {}) for tool in ("octopus-tools/ledger_post", "orders/*")}
    assert "cfo" in who["octopus-tools/ledger_post"]
    assert "auditor" not in who["octopus-tools/ledger_post"]
    assert "orders/find_order" in who["orders/*"]
    assert "drop_order" not in who["orders/*"]


def test_every_endpoint_of_octopus_has_a_row() -> None:
    """Each endpoint that the public pages name has a row with the octoc command that shows it."""
    rows = {
        row[0].strip(" `").removesuffix("` (FlowStudio)"): row
        for line in page("from-octopus").splitlines()
        if len(row := line.strip("|").split(" | ")) == 3
    }
    assert [endpoint for endpoint in ENDPOINTS if endpoint not in rows] == []
    assert [endpoint for endpoint in ENDPOINTS if "`octoc " not in rows[endpoint][2]] == []


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_pages(name: str) -> None:
    """Each page that a page links to is there."""
    links = re.findall(r"\]\(([^)#]+)\)", page(name))
    assert links
    assert [link for link in links if not (PAGES / link).is_file()] == []


def _options() -> Iterator[tuple[str, str]]:
    for name in NAMES:
        for line in re.findall(r"`(octoc [a-z][^`]*)`", page(name)):
            words = line.split()[1:]
            yield from ((words[0], word) for word in words[1:] if word.startswith("--"))


@pytest.mark.parametrize("command, option", sorted(set(_options())))
def test_every_option_that_a_page_names_is_there(command: str, option: str) -> None:
    """A command's options on the pages are its options, also where the line has a reader's own name in it."""
    found = cli.get_command(cli.make_context("octoc", [command], resilient_parsing=True), command)
    assert found is not None
    commands = [found, *getattr(found, "commands", {}).values()]
    assert option in {name for one in commands for parameter in one.params for name in parameter.opts}


def _keys() -> Iterator[tuple[str, str, str]]:
    for name in NAMES:
        # The first cell of a row is the other system's.
        ours = re.sub(r"^\| [^|]* \|", "|", page(name), flags=re.MULTILINE)
        for section, rest in re.findall(r"`\[([a-z]+)\] ([a-z_]+ = [^`]+|[a-z_]+)`", ours):
            key, _, value = rest.partition(" = ")
            yield name, section, f"{key} = {value or '?'}"


@pytest.mark.parametrize("name, section, line", sorted(set(_keys())))
def test_every_setting_that_a_page_names_is_there(tmp_path: Path, name: str, section: str, line: str) -> None:
    """A key of octoc.toml on the pages is one that it has, and its value, where one is given, one that it takes."""
    key, _, value = line.partition(" = ")
    text = f"[{section}]\n{key} = {'0' if value == '?' else value}\n"
    tmp_path.joinpath("octoc.toml").write_text(f'[workspace]\nname = "{name}"\n\n{text}', encoding="utf-8")
    sink = DiagnosticSink()
    load_settings(tmp_path, sink)
    wrong = [found for found in sink.diagnostics if value != "?" or found.rule.name == "unknown-key"]
    assert wrong == []
