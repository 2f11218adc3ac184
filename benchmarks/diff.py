"""`octoc diff` of two bundles of 10,000 tools: none, a tenth and all of them changed, as processor time of the process.

The tools are recorded on 20 servers and bound to one agent; no text is encoded. A changed tool has a new optional
parameter and other words. `octoc --version` is the start that each command pays.

    python -m benchmarks.diff [RUNS]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import forget, in_turn, processor_seconds, row

SERVERS, SERVER_TOOLS = 20, 500
CHANGED = (0, 10, 1)
"""1 changes every tool, 10 changes each tenth one, 0 no tool."""
_SETTINGS = '[workspace]\nname = "fleet"\n\n[search]\nrank = "bm25"\n'
_OCTOC = str(Path(sys.executable).with_name("octoc"))


def main(runs: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        first = _built(Path(folder, "fleet"), 0, Path(folder, "first.octoc"))
        others = [_built(Path(folder, "fleet"), each, Path(folder, f"changed-{each}.octoc")) for each in CHANGED]
        commands = [[_OCTOC, "--version"], *([_OCTOC, "diff", str(first), str(other)] for other in others)]
        figures = in_turn(runs, *(lambda words=words: processor_seconds(words) for words in commands))
    names = ["octoc --version"]
    tools = SERVERS * SERVER_TOOLS
    names += [f"octoc diff, {tools // each if each else 0:,} of {tools:,} tools changed" for each in CHANGED]
    for name, taken in zip(names, figures, strict=True):
        row(name, taken, "s", 1.0)


def _built(root: Path, each: int, into: Path) -> Path:
    """Build the workspace with one of `each` tools changed, and keep its bundle."""
    forget(root, "dist", "octoc.lock", "snapshots")
    root.mkdir(exist_ok=True)
    (root / "octoc.toml").write_text(_SETTINGS, encoding="utf-8")
    servers = {f"server{number}": {"command": "host"} for number in range(SERVERS)}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    for server in servers:
        dump = root / "dump.json"
        tools = [_tool(number, is_changed=bool(each) and number % each == 0) for number in range(SERVER_TOOLS)]
        dump.write_text(json.dumps({"tools": tools}), encoding="utf-8")
        _octoc("pin", server, "--from", str(dump), "--workspace", str(root))
        dump.unlink()
    _octoc("build", "--workspace", str(root))
    return Path(shutil.copy(next((root / "dist").glob("*.octoc")), into))


def _tool(number: int, *, is_changed: bool) -> dict[str, Any]:
    words = ("ledger", "order", "invoice", "ticket", "customer", "product", "route", "contract", "salary", "visit")
    properties = {
        "id": {"type": "string", "description": "Which record"},
        "fields": {"type": "array", "items": {"type": "string"}, "description": "What to return of it"},
        "state": {"enum": ["open", "closed", "all"]},
    }
    if is_changed:
        properties["until"] = {"type": "string", "format": "date"}
    return {
        "name": f"{words[number % len(words)]}_{number}",
        "description": f"Reads {words[number % len(words)]} records{' of a period' if is_changed else ''}",
        "inputSchema": {"type": "object", "properties": properties, "required": ["id"]},
    }


def _octoc(*words: str) -> None:
    done = subprocess.run([_OCTOC, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"octoc {words[0]}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
