"""Mutations of real files of every kind, read and checked: how many fail in another way than by a finding.

    python -m benchmarks.fuzz_readers            # 10,000 of each kind
    python -m benchmarks.fuzz_readers --count 500 --seed 3

A failure prints its kind, the seed and the file that it was made from; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measure import ROOT, realworld
from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.inputs.agents.manifest import AGENT_MANIFEST
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.capability import CAPABILITY_CONFIG, CAPABILITY_PROVIDER
from octoc.compiler.inputs.claude.plugin import CLAUDE_MARKETPLACE, CLAUDE_PLUGIN
from octoc.compiler.inputs.claude.settings import CLAUDE_SETTINGS
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.skill import SKILL
from octoc.compiler.inputs.snapshot import SNAPSHOT
from octoc.compiler.inputs.workspace import WORKSPACE
from octoc.plugin.file_kinds import FileKind, Syntax

# What breaks readers: marks of each format, ends of text, wide characters, malformed numbers.
TOKENS = [bytes([each]) for each in b"{}[]\"'\\#:,=-\n\t |>&*!%@`x0.()$/~^"] + [
    *(b"---\n", b"...\n", b'"""', b"'''", b"\xff", b"\xfe", b"\x00", b"\x1b", b"\xef\xbb\xbf", b"\r\n", b"\r"),
    *(b"null", b"true", b"1e999", b"-0", b"0x", b"inf", b"nan", b"1979-05-27", b"{{ENV:", b"${", b"}}", b"[[", b"]]"),
    *(b"\\u0000", b"\\ud800", b"\\U0010ffff", b"? ", b"- - - ", b"&a *a", b"!!str ", b"match(", b"//", b"/*"),
    *("é😀\u2028\u202e\u200b\ufeff".encode(), "ß".encode(), b"[" * 300, b"{" * 300, b"a" * 5000),
]
ENDINGS: Mapping[Syntax, str] = {"json": "json", "markdown": "md"}
CLAUDE_FILES = {
    CLAUDE_SETTINGS: {
        "permissions": {"allow": ["Bash(npm run *)", "mcp__github__get_issue"], "deny": ["Read(./.env)", "Bash"]},
        "hooks": {"PreToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "sh ./a.sh"}]}]},
        "env": {"A": "b"},
        "enabledMcpjsonServers": ["github"],
    },
    CLAUDE_PLUGIN: {
        "name": "review",
        "commands": ["./commands/review.md"],
        "mcpServers": {"docs": {"command": "node", "args": ["${CLAUDE_PLUGIN_ROOT}/a.js"]}},
        "hooks": {"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "p"}]}]}},
    },
    CLAUDE_MARKETPLACE: {
        "name": "team-tools",
        "owner": {"name": "Acme"},
        "metadata": {"pluginRoot": "./plugins"},
        "plugins": [{"name": "a", "source": "./a"}, {"name": "b", "source": {"source": "github", "repo": "c/d"}}],
    },
}


def samples() -> dict[FileKind, list[bytes]]:
    """Return real files by kind; for kinds that the tap lacks, files of this repository."""
    real = realworld()
    tap = ROOT / "taps" / "core" if real is None else real / "octomind-tap"
    found = {
        WORKSPACE: [ROOT / "examples" / "demo" / "octoc.toml"],
        MCP: sorted((ROOT / "examples").glob("**/.mcp.json")),
        CAPABILITY_CONFIG: sorted(tap.glob("capabilities/*/config.toml")),
        CAPABILITY_PROVIDER: sorted(
            path
            for path in tap.glob("capabilities/*/*.toml")
            if path.name != "config.toml" and path.stat().st_size > 99
        ),
        AGENT_MANIFEST: sorted(tap.glob("agents/*/*.toml")),
        AGENT_MD: sorted((ROOT / "examples").glob("**/AGENT.md")),
        SKILL: sorted(tap.glob("skills/*/SKILL.md")),
        SNAPSHOT: sorted((ROOT / "examples").glob("**/snapshots/*.json")),
    }
    contents = {kind: [path.read_bytes() for path in paths] for kind, paths in found.items()}
    contents[MCP].append(
        b'{"servers": {"a": {"command": "npx", "args": ["-y", "p"], "env": {"K": "${input:k}"}}}, "inputs": [] /* c */}'
    )
    contents[AGENT_MD].append(
        b"---\nname: a\ndescription: b: c\ntools: [mcp__x__*]\nmcpServers: [s, {t: {url: 'http://t'}}]\n---\nHi\n"
    )
    contents |= {kind: [json.dumps(values, indent=1).encode()] for kind, values in CLAUDE_FILES.items()}
    return contents


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return `data` with a few pieces cut out, doubled, moved, flipped or put in, or cut short."""
    for _ in range(chance.randint(1, 6)):
        low = chance.randint(0, len(data))
        high = chance.randint(low, min(len(data), low + chance.choice((1, 8, 64, 512))))
        piece = chance.choice(
            (chance.choice(TOKENS), b"", data[low:high] * 2, data[-40:], bytes([chance.randrange(256)]))
        )
        data = data[:low] + piece + data[high:]
    return data[: chance.randint(0, len(data))] if chance.random() < 0.1 else data


def fuzz(kind: str, ending: str, sources: Sequence[bytes], count: int, seed: int) -> tuple[int, list[str], int]:
    """Return how many mutations ran, what failed, and how many gave an error as a finding."""
    failures: list[str] = []
    with_findings = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file.{ending}")
        subject = CheckTarget(root=Path(folder), file=path, kind=kind)
        for number in range(count):
            chance = random.Random(f"{seed} {kind} {number}")
            data = mutated(chance.choice(sources), chance)
            path.write_bytes(data)
            try:
                found = check_target(subject, use_cache=False).diagnostics
            except Exception:  # noqa: BLE001  # any exception at all is what is sought
                failures.append(f"{kind}, seed {seed}, number {number}\n{traceback.format_exc(limit=-3)}")
            else:
                with_findings += bool(found)
    return count, failures, with_findings


def main() -> int:
    """Fuzz every kind, on all processors, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="mutations of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    sources = samples()
    parts = 8
    jobs = [
        (
            kind.name,
            ENDINGS.get(kind.syntax, "toml"),
            sources[kind],
            options.count // parts + (part < options.count % parts),
            options.seed * 1000 + part,
        )
        for kind in sources
        for part in range(parts)
    ]
    start = time.perf_counter()
    with multiprocessing.Pool(options.jobs) as pool:
        results = pool.starmap(fuzz, jobs)
    failed = 0
    print(f"{'kind':<22} {'files':>6} {'mutations':>10} {'with findings':>14} {'failures':>9}")
    for kind in sources:
        mine = [result for job, result in zip(jobs, results, strict=True) if job[0] == kind.name]
        failures = [failure for _, found, _ in mine for failure in found]
        failed += len(failures)
        ran, heard = sum(count for count, _, _ in mine), sum(count for *_, count in mine)
        print(f"{kind.name:<22} {len(sources[kind]):>6} {ran:>10} {heard:>14} {len(failures):>9}")
        for failure in failures[:3]:
            print(failure)
    print(f"{failed} failures in {time.perf_counter() - start:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
