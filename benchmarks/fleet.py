"""200 agents over 2,000 tools: opening, the first and every further session, its tool block, and the size of the file.

There are 20 servers of 100 tools and 100 overlapping groups of tools; an agent has four groups and the proxy, and shows
ten tools at once. Times are processor time. Bars: a session opens in under 2 ms and shows its tools in under 1 ms. The
growth of the file is measured with twice the agents, twice the tools of the same grants, and twice the grants; beside
it, with the same registries as lists of numbers.

    python -m benchmarks.fleet
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from pathlib import Path

import attrs

from octoc.bundle.codec import encode
from octoc.bundle.digest import canonical_json
from octoc.bundle.model import AgentEntry, Bundle, Registry, ServerEntry, Settings, ToolEntry
from octoc.bundle.writer import BlobBuilder, write_bundle
from octoc.plugin.manager import plugins_of
from octoc.runtime import Runtime

SERVERS = 20
GROUPS = 100
SHOWN = 10
RUNS = 5


@attrs.frozen(kw_only=True)
class Fleet:
    """How much there is of everything; `groups` are those of one agent."""

    agents: int = 200
    tools: int = 2000
    groups: int = 4


def main() -> None:
    """Measure and print."""
    fleet = Fleet()
    print(
        f"{fleet.agents} agents over {fleet.tools} tools of {SERVERS} servers, {fleet.groups} of {GROUPS} groups each"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fleet.octoc")
        bundle, data, _ = built(fleet)
        path.write_bytes(data)
        names = [agent.name for agent in bundle.agents]
        figures: list[list[float]] = [[] for _ in range(5)]
        opening, first, later, shown, again = figures
        for _ in range(RUNS):
            began = time.thread_time()
            runtime = Runtime.open(path, plugins=plugins_of())
            opening.append(time.thread_time() - began)
            kept = []
            for sessions, blocks in ((first, shown), (later, again)):
                for name in names:
                    began = time.thread_time()
                    session = runtime.session(name)
                    sessions.append(time.thread_time() - began)
                    began = time.thread_time()
                    session.tools()
                    blocks.append(time.thread_time() - began)
                    kept.append(session)
    _row("open the bundle", opening, None)
    _row("an agent's first session", first, 2.0)
    _row("each further session", later, 2.0)
    _row("its tools, the agent's first", shown, 1.0)
    _row("its tools, further sessions", again, 1.0)
    print(f"\n{'':<44} {'registries':>12} {'as lists':>12}   (bytes)")
    base = _sizes(fleet)
    for name, other in (
        ("as above", fleet),
        ("twice the agents", attrs.evolve(fleet, agents=2 * fleet.agents)),
        ("twice the tools", attrs.evolve(fleet, tools=2 * fleet.tools)),
        ("twice the groups of each agent", attrs.evolve(fleet, groups=2 * fleet.groups)),
        ("twice of all", Fleet(agents=2 * fleet.agents, tools=2 * fleet.tools, groups=2 * fleet.groups)),
    ):
        made, lists = _sizes(other)
        print(f"{name:<44} {made:>12,} {lists:>12,}   {made / base[0]:.2f}x, {lists / base[1]:.2f}x")


def _row(name: str, seconds: list[float], bar: float | None) -> None:
    figures = sorted(one * 1000 for one in seconds)
    middle, late = statistics.median(figures), figures[int(len(figures) * 0.95)]
    told = "" if bar is None else f"   bar {bar:g} ms: {'held' if late < bar else 'MISSED'}"
    print(f"{name:<44} {middle:>8.3f} {late:>8.3f} ms (p50, p95 of {len(figures)}){told}")


def built(fleet: Fleet) -> tuple[Bundle, bytes, int]:
    """Return a fleet's bundle, its bytes, and how many of them are not its registries'. The same every time."""
    tools, texts, chance = BlobBuilder(), BlobBuilder(), random.Random(7)
    entries = []
    per_server = fleet.tools // SERVERS
    for number in range(fleet.tools):
        server, name = f"server{number // per_server}", f"tool_{number % per_server}"
        entries.append(
            ToolEntry(
                server=server,
                name=name,
                alias=f"{server}__{name}",
                description=f"Does number {number} of what {server} does",
                wire=tools.add(canonical_json(_wire(name, number))),
            )
        )
    # A group is a run of a server's tools, cut where the groups of other sizes of the fleet are cut, too.
    groups = []
    for _ in range(GROUPS):
        begin, length = chance.random(), 0.004 + chance.random() / 50
        groups.append(range(int(begin * fleet.tools), min(int((begin + length) * fleet.tools), fleet.tools)))
    agents = []
    for number in range(fleet.agents):
        own = sorted({tool for group in chance.sample(groups, fleet.groups) for tool in group})
        registry = Registry(tools=tuple(own), direct=tuple(own[:SHOWN]), proxy=True, confined=True)
        prompt = texts.add_text(f"You are agent {number}.")
        agents.append(AgentEntry(name=f"team{number % 20}:a{number}", kind="octo", prompt=prompt, registry=registry))
    bundle = Bundle(
        name="fleet",
        octoc_version="0",
        settings=Settings(scopes="deny"),
        servers=tuple(
            ServerEntry(name=f"server{number}", transport="stdio", command="x", listed=True)
            for number in range(SERVERS)
        ),
        tools=tuple(entries),
        agents=tuple(agents),
    )
    blobs = {"tools": tools.data, "texts": texts.data}
    bare = attrs.evolve(bundle, agents=tuple(attrs.evolve(agent, registry=Registry()) for agent in agents))
    return bundle, write_bundle(bundle, blobs=blobs), len(write_bundle(bare, blobs=blobs))


def _wire(name: str, number: int) -> dict[str, object]:
    properties = {
        "path": {"type": "string", "description": "What it is about"},
        "limit": {"type": "integer", "minimum": 1, "default": number % 50 + 1},
        "kind": {"enum": ["all", "open", "closed"]},
    }
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    return {"name": name, "description": f"Does number {number}", "inputSchema": schema}


def _sizes(fleet: Fleet) -> tuple[int, int]:
    """Return the bytes of all that the file has of registries, and of the same ones as lists of numbers."""
    bundle, data, rest = built(fleet)
    lists = sum(len(canonical_json(encode(agent.registry))) for agent in bundle.agents)
    return len(data) - rest, lists


if __name__ == "__main__":
    main()
