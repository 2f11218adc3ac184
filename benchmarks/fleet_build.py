"""Compiling 200 agents over 2,000 tools by 100 groups: `octoc check` and `octoc build`, stage by stage, and growth.

`octoc init --from octopus` makes the workspaces from an export: 10 areas of 20 agents and 8 groups each, 20 global
groups, four groups per agent, all under `deny`. The tools are recorded on 20 servers or on one, or nothing is recorded,
so that all 2,000 are literal names on one REST server. No text is encoded. Times are processor time, of whole processes
and of the stages in one. Growth is measured with a doubled fleet (agents, areas, groups, tools, and servers if there
are 20); near 2 is linear.

    python -m benchmarks.fleet_build [OUT]

With OUT, a folder, locks and bundles are kept there, for comparison with another version.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import attrs

from benchmarks.measure import ROOT, forget, row

RUNS = 3
AREAS, AREA_AGENTS, AREA_GROUPS, GLOBAL_GROUPS = 10, 20, 8, 20
GROUP_TOOLS, AGENT_GROUPS, SERVER_TOOLS = 30, 4, 100
SERVERS = (20, 1, 0)
STAGES = ("read", "structure", "resolve", "scope", "describe", "index", "lint", "lock", "emit")
_TIMED = """
import json, sys, time
from pathlib import Path
from octoc.compiler import pipeline
from octoc.compiler.cache.store import Cache
from octoc.compiler.model.build import Build
from octoc.compiler.workspace.load import load_workspace

loaded = load_workspace(Path(sys.argv[1]), cache=Cache(None))
build, seconds = Build(settings=loaded.settings), {}
for stage in pipeline.STAGES:
    began = time.process_time()
    build = stage(build, loaded.context)
    seconds[stage.__name__] = time.process_time() - began
print(json.dumps(seconds))
"""


@attrs.frozen(kw_only=True)
class Kind:
    """A workspace to be: how often the fleet, and on how many servers its tools are recorded; 0 where they are not."""

    times: int
    servers: int

    def __str__(self) -> str:
        fleet = self.times * AREAS * AREA_AGENTS
        tools = self.times * SERVER_TOOLS * 20
        return f"{fleet} agents, {tools} tools, {_named(self.servers)}"


def main(keep: Path | None) -> None:
    """Measure and print."""
    medians: dict[tuple[int, int, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for servers in SERVERS:
            for times in (1, 2):
                kind = Kind(times=times, servers=servers * times if servers > 1 else servers)
                root = made(Path(folder, f"fleet-{times}-{servers}"), kind)
                print(kind)
                for command in ("check", "build"):
                    figures = [_cold(command, root) for _ in range(RUNS)]
                    row(f"  octoc {command}, cold", figures, "s", 1.0)
                    medians[times, servers, command] = sorted(figures)[RUNS // 2]
                _print_stages(root)
                if keep is not None:
                    _keep(root, keep / root.name)
        for servers in SERVERS:
            for command in ("check", "build"):
                grown = medians[2, servers, command] / medians[1, servers, command]
                print(f"{f'octoc {command}, {_named(servers)}: the fleet doubled':<52} {grown:>19.2f}x")


def _named(servers: int) -> str:
    return "unlisted" if not servers else f"recorded on {servers} server{'s' * (servers > 1)}"


def made(root: Path, kind: Kind) -> Path:
    """Write the workspace. `root` is its folder, made anew."""
    root.mkdir(parents=True)
    if kind.servers:
        _record(root, kind)
    export = root / "export.json"
    export.write_text(json.dumps(_export(kind)), encoding="utf-8")
    _octoc("init", "--from", "octopus", str(export), "--workspace", str(root), "--no-pin")
    settings = root / "octoc.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + '\n[search]\nrank = "bm25"\n', encoding="utf-8")
    return root


def _record(root: Path, kind: Kind) -> None:
    names = _tools(kind)
    servers = {f"server{number}": {"command": "host"} for number in range(kind.servers)}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    (root / "octoc.toml").write_text('[workspace]\nname = "fleet"\n', encoding="utf-8")
    for number, server in enumerate(servers):
        own = names[number * len(names) // kind.servers : (number + 1) * len(names) // kind.servers]
        wires = [
            {
                "name": name,
                "description": f"Does {name} to the records of a department",
                "inputSchema": {
                    "type": "object",
                    "properties": {"id": {"type": "string", "description": "Which one"}},
                    "required": ["id"],
                },
            }
            for name in own
        ]
        dump = root / "dump.json"
        dump.write_text(json.dumps({"tools": wires}), encoding="utf-8")
        _octoc("pin", server, "--from", str(dump), "--workspace", str(root))
        dump.unlink()
    (root / "octoc.toml").unlink()


def _tools(kind: Kind) -> list[str]:
    words = ("ledger", "order", "invoice", "ticket", "customer", "product", "route", "contract", "salary", "visit")
    deeds = ("read", "list", "create", "update", "delete", "approve", "export", "search", "archive", "assign")
    names = [f"{word}_{deed}_{number}" for number in range(20 * kind.times) for word in words for deed in deeds]
    return names[: 20 * kind.times * SERVER_TOOLS]


def _export(kind: Kind) -> dict[str, Any]:
    chance = random.Random(7)
    tools = _tools(kind)
    areas, agents, assignments = [], [], []
    groups: list[dict[str, Any]] = []
    count = kind.times * (AREAS * AREA_GROUPS + GLOBAL_GROUPS)
    for number in range(count):
        begin = number * len(tools) // count
        name = {"id": 1000 + number, "name": f"group {number}"}
        own = [tools[(begin + step) % len(tools)] for step in range(GROUP_TOOLS)]
        area = number // AREA_GROUPS + 1
        home = {"areaId": area} if area <= kind.times * AREAS else {}
        groups.append({**name, **home, "toolNames": own})
    for_all = [group for group in groups if "areaId" not in group]
    for area in range(1, kind.times * AREAS + 1):
        own_groups = [group for group in groups if group.get("areaId") == area]
        ids = [area * 100 + step for step in range(AREA_AGENTS)]
        areas.append({"areaId": area, "tenantId": "acme", "name": f"area {area}", "agents": ids})
        for place, agent in enumerate(ids):
            agents.append({"agentId": agent, "name": f"area {area} agent {agent}", "systemPrompt": "You work."})
            two = {own_groups[place % AREA_GROUPS]["id"], chance.choice(own_groups)["id"]}
            given = two | {one["id"] for one in chance.sample(for_all, AGENT_GROUPS - len(two))}
            given |= {for_all[(area * AREA_AGENTS + place) % len(for_all)]["id"]}
            assignments += [{"agentId": agent, "toolGroupId": group} for group in sorted(given)]
    return {
        "tenants": [{"tenantId": "acme", "name": "Acme"}],
        "areas": areas,
        "toolGroups": groups,
        "agents": agents,
        "assignments": assignments,
    }


def _octoc(*args: str) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("octoc")), *args], cwd=ROOT, capture_output=True, text=True, check=False
    )
    # `octoc check` may report what is likely wrong in a made-up fleet.
    if done.returncode > (args[0] == "check") or "Traceback" in done.stderr:
        sys.exit(f"octoc {args[0]}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


def _cold(command: str, root: Path) -> float:
    """Return the processor's seconds of a command that finds nothing of an earlier one."""
    forget(root, "dist", "octoc.lock")
    before = os.times()
    _octoc(command, "--workspace", str(root))
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _print_stages(root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _TIMED, str(root)], cwd=ROOT, capture_output=True, check=True)
    seconds = json.loads(done.stdout.splitlines()[-1])
    shown = ", ".join(f"{name} {seconds[name]:.2f}" for name in STAGES)
    print(f"  stages, s: {shown}")


def _keep(root: Path, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    for path in (root / "octoc.lock", *(root / "dist").glob("*.octoc")):
        shutil.copy(path, into / path.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
