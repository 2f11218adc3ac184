"""Mutations of files of every kind and dialect, read and checked: how many fail in another way than by a finding.

    python -m benchmarks.fuzz_readers            # 10,000 of each kind and each dialect
    python -m benchmarks.fuzz_readers --count 500 --seed 3 mcp:codex mcp:opencode

The files are real ones where the tap or this repository has some, and ones with values drawn from the form's schema. A
failure prints its form, the seed and a traceback; the exit status is then 1.
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
from pathlib import Path

from benchmarks.form_samples import path_of, sample
from benchmarks.measure import ROOT, realworld
from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.inputs.agents.manifest import AGENT_MANIFEST
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.capability import CAPABILITY_CONFIG, CAPABILITY_PROVIDER
from octoc.compiler.inputs.claude.plugin import CLAUDE_MARKETPLACE, CLAUDE_PLUGIN
from octoc.compiler.inputs.claude.settings import CLAUDE_SETTINGS
from octoc.compiler.inputs.instructions import INSTRUCTIONS
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.registry import FileKinds
from octoc.compiler.inputs.skill import SKILL
from octoc.compiler.inputs.snapshot import SNAPSHOT
from octoc.compiler.inputs.tool_list import TOOL_LIST
from octoc.compiler.inputs.workspace import WORKSPACE
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.diagnostics.model import Place
from octoc.plugin.file_kinds import FileKind
from octoc.plugin.manager import load_plugins

# What breaks readers: marks of each format, ends of text, wide characters, malformed numbers.
TOKENS = [bytes([each]) for each in b"{}[]\"'\\#:,=-\n\t |>&*!%@`x0.()$/~^"] + [
    *(b"---\n", b"...\n", b'"""', b"'''", b"\xff", b"\xfe", b"\x00", b"\x1b", b"\xef\xbb\xbf", b"\r\n", b"\r"),
    *(b"null", b"true", b"1e999", b"-0", b"0x", b"inf", b"nan", b"1979-05-27", b"{{ENV:", b"${", b"}}", b"[[", b"]]"),
    *(b"\\u0000", b"\\ud800", b"\\U0010ffff", b"? ", b"- - - ", b"&a *a", b"!!str ", b"match(", b"//", b"/*"),
    *("é😀\u2028\u202e\u200b\ufeff".encode(), "ß".encode(), b"[" * 300, b"{" * 300, b"a" * 5000),
]
DRAWN = 40
"""Files drawn from the schema of each form."""
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


def real_files() -> dict[FileKind, list[bytes]]:
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
    contents[INSTRUCTIONS] = [
        b"# Rules\n\nRead @docs/style.md and `@not/one`, then [a guide](docs/a.md).\n<!-- x -->\n"
    ]
    contents[TOOL_LIST] = [
        json.dumps({"tools": [{"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}}]}).encode(),
        *contents[SNAPSHOT],
    ]
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


SOURCES = real_files()


def fuzz(name: str, count: int, seed: int) -> tuple[str, int, list[str], int]:
    """Return the form, how many mutations ran, what failed, and how many gave a finding."""
    form = FileKinds().named[name]
    sources = [*SOURCES.get(form.kind, ()), *(sample(form, random.Random(f"{name} {each}")) for each in range(DRAWN))]
    plugins = load_plugins(WorkspaceSettings(name="", place=Place(file="")).plugins)
    failures: list[str] = []
    with_findings = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, path_of(form))
        path.parent.mkdir(parents=True, exist_ok=True)
        subject = CheckTarget(root=Path(folder), file=path, kind=name)
        for number in range(count):
            chance = random.Random(f"{seed} {name} {number}")
            data = mutated(chance.choice(sources), chance)
            path.write_bytes(data)
            try:
                found = check_target(subject, plugins=plugins, use_cache=False).diagnostics
            except Exception:  # noqa: BLE001  # any exception at all is what is sought
                failures.append(f"{name}, seed {seed}, number {number}\n{traceback.format_exc(limit=-3)}")
            else:
                with_findings += bool(found)
    return name, count, failures, with_findings


def main() -> int:
    """Fuzz every form, on all processors, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="mutations of each form")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("forms", nargs="*", default=[*FileKinds().named], help="as `octoc check --kind` takes them")
    options = parser.parse_args()
    start = time.perf_counter()
    failed = 0
    print(f"{'form':<24} {'mutations':>10} {'with findings':>14} {'failures':>9}")
    with multiprocessing.Pool(options.jobs) as pool:
        jobs = [(name, options.count, options.seed) for name in options.forms]
        for name, count, failures, heard in pool.imap(_fuzz, jobs):
            failed += len(failures)
            print(f"{name:<24} {count:>10} {heard:>14} {len(failures):>9}", flush=True)
            for failure in failures[:3]:
                print(failure)
    print(f"{failed} failures in {time.perf_counter() - start:.0f} s")
    return int(failed > 0)


def _fuzz(job: tuple[str, int, int]) -> tuple[str, int, list[str], int]:
    return fuzz(*job)


if __name__ == "__main__":
    sys.exit(main())
