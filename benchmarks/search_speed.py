"""The speed of search by words alone, which is what runs beside an encoder too: part of `benchmarks/search.py`."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from benchmarks.measure import ROOT
from octoc.bundle.digest import canonical_json
from octoc.bundle.model import AgentEntry, Bundle, Registry, ServerEntry, Settings, ToolEntry
from octoc.bundle.reader import OpenBundle
from octoc.bundle.search_settings import SearchSettings
from octoc.bundle.writer import BlobBuilder, write_bundle
from octoc.runtime import Runtime
from octoc.search.fields import ToolText
from octoc.search.index import LEXICAL, Index, lexical_arrays

SIZES = (1_000, 10_000, 100_000)
RUNS = 400
QUERIES = (
    "create an issue in the repository",
    "list files",
    "send message to channel",
    "query database table",
    "take a screenshot of the page",
    "update customer record",
    "search documents by title and author",
    "delete old backups",
)
VERBS = ("create", "list", "get", "update", "delete", "search", "send", "query", "take", "resolve", "merge", "export")
PEER = "fastmcp"


def measure(peers: Path | None, recorded: Sequence[ToolText]) -> None:
    """Print p50 and p95 of a search, what opening costs, and how many times faster than FastMCP's it is.

    Args:
        recorded: real tools, which are what is compared on, over and over until there are 1,000; none skips that.
    """
    print(f"{'tools':>8} {'p50':>9} {'p95':>9} {'opens':>9} {'index':>9}")
    for size in SIZES:
        tools = _tools(size)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bench.octoc"
            _write(path, tools)
            opening = statistics.median(_open(path) for _ in range(9))
            session = Runtime.open(path).session()
            taken = _timed(session.search, QUERIES, RUNS)
            megabytes = _size(path) / 1e6
        p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
        print(f"{size:>8} {p50 * 1e3:>7.3f}ms {p95 * 1e3:>7.3f}ms {opening * 1e3:>7.2f}ms {megabytes:>7.1f}MB")
    if recorded:
        again = range(1 + SIZES[0] // len(recorded))
        tools = [attrs.evolve(tool, name=f"{tool.name}_{turn}") for turn in again for tool in recorded][: SIZES[0]]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bench.octoc"
            _write(path, tools)
            taken = _timed(Runtime.open(path).session().search, QUERIES, RUNS)
        print(f"recorded tools, {len(tools)}: p50 {statistics.median(taken) * 1e3:.3f}ms")
        _against_peer(peers, tools, statistics.median(taken))


def _timed(search: Callable[[str], Any], queries: Sequence[str], runs: int) -> list[float]:
    taken = []
    for turn in range(-20, runs):
        start = time.perf_counter()
        search(queries[turn % len(queries)])
        if turn >= 0:
            taken.append(time.perf_counter() - start)
    return taken


def _tools(count: int) -> list[ToolText]:
    """Return made-up tools: a verb and two nouns for a name, a description of words as unevenly common as real ones."""
    draw = random.Random(4)  # the same tools on every run
    nouns = [f"{draw.choice('bcdfglmnprst')}{draw.choice('aeiou')}{draw.choice('bdgklmnrst')}{draw.choice('aeiou')}"
             f"{draw.choice('klmnrst')}" for _ in range(3000)]  # fmt: skip
    usual = ["issue", "repository", "file", "message", "channel", "database", "table", "page", "screenshot", "record"]
    known = [*usual, "customer", "document", "title", "author", "backup", *nouns]
    weights = [1 / (place + 3) for place in range(len(known))]
    tools = []
    for number in range(count):
        said = draw.choices(known, weights, k=14)
        name = f"{draw.choice(VERBS)}_{said[0]}_{said[1]}_{number}"
        properties = {word: {"type": "string", "description": f"The {word} of the {said[2]}."} for word in said[2:5]}
        tools.append(
            ToolText(
                server=f"server{number // 25}",
                name=name,
                description=f"Does {name} to the {' '.join(said[:7])} with {' '.join(said[7:])}.",
                schema={"type": "object", "properties": properties},
            )
        )
    return tools


def _write(path: Path, tools: Sequence[ToolText]) -> None:
    blob = BlobBuilder()
    servers = list(dict.fromkeys(tool.server for tool in tools))
    entries = tuple(
        ToolEntry(
            server=tool.server,
            name=tool.name,
            alias=f"{tool.server}__{tool.name}",
            description=tool.description,
            wire=blob.add(canonical_json({"name": tool.name, "inputSchema": tool.schema})),
        )
        for tool in tools
    )
    everything = Registry(tools=tuple(range(len(tools))), proxy=True)
    bundle = Bundle(
        name="bench",
        octoc_version="0",
        settings=Settings(search=SearchSettings(rank="bm25")),
        servers=tuple(ServerEntry(name=name, transport="stdio", command="none", listed=True) for name in servers),
        tools=entries,
        agents=(AgentEntry(name="supervisor", kind="octo", registry=everything),),
    )
    places = {name: place for place, name in enumerate(servers)}
    arrays = {**lexical_arrays(tools), "servers": np.array([places[tool.server] for tool in tools], np.uint16)}
    members = {f"search/{name}": array for name, array in arrays.items()}
    path.write_bytes(write_bundle(bundle, blobs={"tools": blob.data, "texts": b""}, arrays=members))


def _open(path: Path) -> float:
    """Return how long the index takes from an open bundle on: verifying, mapping, the first look-up."""
    with OpenBundle.open(path) as opened:
        start = time.perf_counter()
        index = Index.of({name: opened.array(f"search/{name}") for name in LEXICAL})
        index.postings.of(0)
        taken = time.perf_counter() - start
        del index
    return taken


def _size(path: Path) -> int:
    with OpenBundle.open(path) as opened:
        return sum(opened.array(f"search/{name}").nbytes for name in LEXICAL)


def _against_peer(peers: Path | None, tools: Sequence[ToolText], ours: float) -> None:
    python = None if peers is None else peers / PEER / "bin" / "python"
    if python is None or not python.is_file():
        print(f"{PEER} is not installed (see --peers)")
        return
    given = {
        "queries": QUERIES,
        "tools": [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in tools],
    }
    script = str(ROOT / "benchmarks" / "search_peer.py")
    done = subprocess.run([str(python), script], input=json.dumps(given), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{PEER} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    theirs = statistics.median(json.loads(done.stdout.splitlines()[-1]))
    print(f"{PEER}, {len(tools)} tools: p50 {theirs * 1e3:.2f}ms, {theirs / ours:.0f}x octoc's")
