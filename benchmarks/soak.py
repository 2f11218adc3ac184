"""Load on eight real servers over stdio: 1,000 calls at once, then 100,000; what is lost, mixed up, kept in memory."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import ROOT
from octoc.compiler.workspace.build import build
from octoc.runtime import Runtime, Session

SERVERS = 8
AT_ONCE = 1000
SERVER = ROOT / "octoc" / "testing" / "faulty_stdio_server.py"
_WORKERS = 64
_SAMPLES = 20
_PAGE = os.sysconf("SC_PAGE_SIZE")


async def main(calls: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        servers = {f"s{n}": {"command": sys.executable, "args": [str(SERVER), "none"]} for n in range(SERVERS)}
        root.joinpath(".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        outcome = build(root)
        assert outcome.bundle is not None
        async with Runtime.open(outcome.bundle, workspace=root) as runtime:
            session = runtime.session()
            print(f"{'connecting all ' + str(SERVERS) + ' servers':<52} {await connect(session):>9.2f} s")
            start = time.perf_counter()
            wrong = sum(await asyncio.gather(*(is_wrong(session, number) for number in range(AT_ONCE))))
            elapsed = time.perf_counter() - start
            print(f"{f'{AT_ONCE:,} calls at once: lost or mixed up':<52} {wrong:>9} in {elapsed:.2f} s")
            await soak(session, calls)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        print(f"{'tasks left after closing':<52} {len(left):>9}")


async def connect(session: Session) -> float:
    """Use each server once; return the seconds that it took."""
    start = time.perf_counter()
    assert not await session.connect_unlisted()
    return time.perf_counter() - start


async def is_wrong(session: Session, number: int) -> bool:
    """Make one call with a nonce; tell whether anything else than this nonce came back."""
    nonce = f"{number}:{os.urandom(8).hex()}"
    outcome = await session.call(f"s{number % SERVERS}__echo", {"nonce": nonce})
    return not outcome.ok or nonce not in outcome.text


async def soak(session: Session, calls: int) -> None:
    """Make calls, so many at a time, and fit a line through the resident memory of the second half."""
    step = max(1, calls // _SAMPLES)
    samples: list[tuple[int, float]] = []
    wrong = 0
    start = time.perf_counter()
    for first in range(0, calls, step):
        numbers = iter(range(first, min(first + step, calls)))

        async def work(numbers: object = numbers) -> int:
            return sum([await is_wrong(session, number) for number in numbers])  # type: ignore[attr-defined]

        wrong += sum(await asyncio.gather(*(work() for _ in range(_WORKERS))))
        gc.collect()
        samples.append((min(first + step, calls), resident()))
    elapsed = time.perf_counter() - start
    print(f"{f'{calls:,} calls, {_WORKERS} at a time: lost or mixed up':<52} {wrong:>9} in {elapsed:.0f} s")
    half = samples[len(samples) // 2 :]
    begin, middle, end = samples[0][1], half[0][1], half[-1][1]
    print(f"{'resident memory at the start, middle, end':<52} {begin:>9.1f} {middle:.1f} {end:.1f} MiB")
    if len(half) > 1:
        print(f"{'its slope over the second half':<52} {slope(half) * 2**20:>9.1f} bytes a call")
    print(f"{'its peak':<52} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:>9.1f} MiB")


def resident() -> float:
    """Return this process's resident memory in MiB."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE / 2**20


def slope(points: list[tuple[int, float]]) -> float:
    """Return the slope of the least squares line."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    asyncio.run(main(parser.parse_args().calls))
