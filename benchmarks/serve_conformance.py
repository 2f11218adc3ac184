"""The official conformance suite of MCP on one server: directly, through `octoc serve`, and through FastMCP's proxy.

    make conformance
    python -m venv DIR/fastmcp && DIR/fastmcp/bin/pip install fastmcp==4.1.2
    python -m benchmarks.serve_conformance --peers DIR

A scenario passes if none of its checks fails. Scenarios of optional extensions are left out: the server has none.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import ROOT
from benchmarks.processes import await_port, ended, free_port, gateway_of, quietly
from octoc.testing import WorkspaceBuilder

MODULES = Path(sys.prefix) / "node22" / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
SERVER = ROOT / "plugins" / "octoc-serve" / "tests" / "everything_server.py"
REVISIONS = ("2025-11-25", "2026-07-28")
_FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_PROXY = (
    "import json, sys\n"
    "from fastmcp.server import create_proxy\n"
    "create_proxy(json.loads(sys.argv[1])).run("
    "transport='http', host='127.0.0.1', port=int(sys.argv[2]), show_banner=False, log_level='ERROR')\n"
)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """Serve all that the scenarios ask for, and yield the address."""
    process = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True)
    with ended(process):
        assert process.stdout is not None
        yield process.stdout.readline().strip()


@contextlib.contextmanager
def gateway(url: str, folder: Path) -> Iterator[str]:
    """Serve an agent that has everything of the server by `octoc serve`."""
    workspace = WorkspaceBuilder(folder, aliases={"style": "bare"}).server("everything", type="http", url=url)
    root = str(workspace.agent("all", type="worker", tools=["everything/*"]).write())
    for command in (["pin"], ["build", "--allow-degraded"]):
        octoc = [sys.executable, "-m", "octoc", *command, "--workspace", root]
        subprocess.run(octoc, capture_output=True, check=True)
    words = ["serve", "--workspace", root, "--agent", "all", "--transport", "http", "--port", "0"]
    tokens = ["--tokens", str(folder / ".." / "no-tokens.json")]
    with gateway_of([sys.executable, "-m", "octoc", *words, *tokens]) as (address, _):
        yield address


@contextlib.contextmanager
def fastmcp(url: str, python: Path) -> Iterator[str]:
    """Serve everything of the server by FastMCP's proxy, in its own environment."""
    port = free_port()
    servers = {"mcpServers": {"everything": {"url": url}}}
    with ended(quietly([str(python), "-c", _PROXY, json.dumps(servers), str(port)])):
        await_port(port)
        yield f"http://127.0.0.1:{port}/mcp"


def failing(url: str, revision: str) -> tuple[int, list[str]]:
    """Return the number of scenarios of a revision, and those with a failed check."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(MODULES / ".bin" / "node"), str(SUITE), "server", "--url", url, "--requirements", revision]
        subprocess.run([*command, "-o", folder], capture_output=True, check=False)
        failed: dict[str, bool] = {}
        for path in Path(folder).glob("*/checks.json"):
            named = _FOLDER.fullmatch(path.parent.name)
            if named is not None and not named[1].startswith("tasks-"):
                checks = json.loads(path.read_text(encoding="utf-8"))
                failed[named[1]] = any(check["status"] == "FAILURE" for check in checks)
    return len(failed), sorted(name for name, has_failed in failed.items() if has_failed)


def main() -> None:
    """Print how many scenarios of each revision pass, and which fail."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, default=None, help="folder of the others' environments")
    peers: Path | None = parser.parse_args().peers
    if not SUITE.is_file():
        sys.exit("the conformance suite is not installed: run `make conformance` where npm works")
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(server())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "workspace"
        fronts = {"direct": url, "octoc serve": stack.enter_context(gateway(url, folder))}
        python = None if peers is None else peers / "fastmcp" / "bin" / "python"
        if python is not None and python.is_file():
            fronts["FastMCP's proxy"] = stack.enter_context(fastmcp(url, python))
        else:
            print("fastmcp is not installed (see --peers)")
        for revision in REVISIONS:
            for name, address in fronts.items():
                count, failed = failing(address, revision)
                print(f"{revision} {name}: {count - len(failed)} of {count}", *failed, sep="\n    ")


if __name__ == "__main__":
    main()
