"""The real tap, with the recorded tools pinned, through every stage and with the real encoder."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.bundle.reader import OpenBundle
from octoc.cli import main
from octoc.compiler.cache.store import workspace_cache
from octoc.compiler.workspace.build import BuildOutcome, build
from octoc.diagnostics.rule import Severity
from octoc.runtime import Runtime
from octoc.runtime.skills.matching import matching

COUNTS = {"capabilities": 72, "agents": 137, "skills": 101}


@attrs.frozen(kw_only=True)
class Built:
    """The built tap."""

    root: Path
    tap: Path
    outcome: BuildOutcome


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, realworld: Path) -> Built:
    """A workspace on the real tap, pinned from every recorded list, built from nothing."""
    root = tmp_path_factory.mktemp("real")
    write_workspace(root, realworld)
    return Built(root=root, tap=realworld / "octomind-tap", outcome=build(root))


def write_workspace(root: Path, realworld: Path) -> None:
    """Write octoc.toml and pin what there is a recorded list for."""
    tap = realworld / "octomind-tap"
    root.joinpath("octoc.toml").write_text(
        f'[workspace]\nname = "real"\n\n[[taps]]\nname = "tap"\npath = "{tap}"\n', encoding="utf-8"
    )
    for dump in sorted((realworld / "tools").glob("*.json")):
        # Some recorded packages are run by no server of the tap, which `pin` reports.
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            assert main(["pin", "--workspace", str(root), "--from", str(dump)]) in (0, 1)


@pytest.mark.parametrize("kind", COUNTS)
def test_every_entity_is_in_the_bundle_or_in_a_diagnostic(real: Built, kind: str) -> None:
    """Each capability, agent and skill of the tap is in the bundle, or a diagnostic at its file says why not."""
    patterns = {"capabilities": "capabilities/*/", "agents": "agents/*/*.toml", "skills": "skills/*/"}
    folders = sorted(real.tap.glob(patterns[kind]))
    assert len(folders) == COUNTS[kind]
    with OpenBundle.open(real.root / "dist" / "real.octoc") as opened:
        held = {entry.name for entry in getattr(opened.bundle, kind)}
    told = {found.span.file for found in real.outcome.diagnostics if found.span is not None}
    for path in folders:
        name = f"{path.parent.name}:{path.stem}" if kind == "agents" else path.name
        assert name in held or any(file.startswith(str(path)) for file in told), name


def test_recorded_tools_are_in_the_bundle(real: Built) -> None:
    """Every snapshot's tools are numbered, named and can be read, and a capability's patterns found theirs."""
    snapshots = sorted(path.stem for path in (real.root / "snapshots").glob("*.json"))
    assert "playwright" in snapshots
    with OpenBundle.open(real.root / "dist" / "real.octoc") as opened:
        bundle = opened.bundle
        assert {tool.server for tool in bundle.tools} == set(snapshots)
        assert all(opened.tool_wire(index)["name"] == tool.name for index, tool in enumerate(bundle.tools))
        browser = next(capability for capability in bundle.capabilities if capability.name == "browser")
        assert {bundle.tools[index].name for grant in browser.grants for index in grant.tools} >= {"browser_click"}


def test_the_errors_of_the_tap_are_real(real: Built) -> None:
    """The tap's errors are a package without a version, placeholders in examples, and checks that do not exist."""
    errors = [found for found in real.outcome.diagnostics if found.severity is Severity.ERROR]
    files = Counter(
        (found.rule.name, Path(found.span.file).relative_to(real.tap).as_posix()) for found in errors if found.span
    )
    assert files == {
        ("unpinned-package", "capabilities/svelte/svelte.toml"): 1,
        ("live-placeholder", "agents/octomind/assistant.toml"): 1,
        ("live-placeholder", "agents/octomind/tap.toml"): 6,
        ("unknown-skill-check", "skills/analytical-report/SKILL.md"): 2,
        ("unknown-skill-check", "skills/ats-optimization/SKILL.md"): 3,
        ("unknown-skill-check", "skills/code-review-lenses/SKILL.md"): 2,
        ("unknown-skill-check", "skills/cover-letter/SKILL.md"): 1,
        ("unknown-skill-check", "skills/resume-conventions/SKILL.md"): 3,
    }


def test_where_octomind_reads_a_capability_in_two_ways(real: Built) -> None:
    """Each messaging capability with `allowed_tools = []` is reported with the agents that lose its tools."""
    found = [one for one in real.outcome.diagnostics if one.rule.name == "octomind-merge-differs"]
    names = sorted(one.message.split("`")[3] for one in found)
    assert names == ["messaging-discord", "messaging-email", "messaging-email", "messaging-linkedin", "messaging-slack"]
    slack = next(one for one in found if "`messaging-slack`" in one.message)
    assert slack.message.endswith("no tool once Octomind merges it into 2 agents: `assistant:inbox`, `support:desk`")


def test_an_unchanged_rebuild_runs_no_stage(real: Built) -> None:
    """A second build of the same inputs encodes nothing, runs no stage, and repeats what was found."""
    texts: list[str] = []
    again = build(real.root, progress=lambda *step: texts.append(step[0]))
    assert again.unchanged
    assert texts == []
    assert again.digest == real.outcome.digest
    assert again.diagnostics == real.outcome.diagnostics


def test_another_folder_and_another_order_give_the_same_bytes(
    real: Built, realworld: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same inputs in another folder, their files found in the reverse order, make the same bundle and lock."""
    other = tmp_path / "deeper" / "elsewhere"
    other.mkdir(parents=True)
    write_workspace(other, realworld)
    # The vectors are taken over, so that this test is about order and place; the encoder has a test of its own.
    known, taken = workspace_cache(real.root), workspace_cache(other)
    assert known is not None
    assert taken is not None
    shutil.copytree(known, taken, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*gate*"))
    monkeypatch.setattr(os, "scandir", reversed_scan(os.scandir))
    monkeypatch.setattr(os, "listdir", lambda path=".", listed=os.listdir: sorted(listed(path), reverse=True))
    assert build(other).digest == real.outcome.digest
    assert (other / "octoc.lock").read_bytes() == (real.root / "octoc.lock").read_bytes()


def reversed_scan(scan: Callable[..., Any]) -> Callable[..., Any]:
    """Return `os.scandir` with its entries in the reverse order of their names."""

    @contextlib.contextmanager
    def scanned(path: Any = ".") -> Iterator[Any]:
        with scan(path) as entries:
            yield iter(sorted(entries, key=lambda entry: entry.name, reverse=True))

    return scanned


def test_opening_loads_no_encoder_and_a_search_no_more_than_it_needs(real: Built) -> None:
    """Opening the bundle and listing tools loads neither encoder nor numpy; a search loads both, and no transport."""
    program = (
        "import sys\n"
        "from octoc.runtime import Runtime\n"
        "session = Runtime.open(sys.argv[1]).session()\n"
        "assert session.tools()\n"
        "heavy = ('onnxruntime', 'numpy', 'mcp', 'zipfile', 'importlib.metadata')\n"
        "assert not [name for name in heavy if name in sys.modules]\n"
        "assert session.search('click a button in the browser')\n"
        "print([name for name in ('onnx', 'mcp', 'sklearn') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, str(real.root / "dist" / "real.octoc")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_a_message_is_routed_among_the_agents_capabilities(real: Built) -> None:
    """An Octomind agent routes to a capability of its domain and never to one of another domain."""

    async def scenario() -> None:
        async with Runtime.open(real.root / "dist" / "real.octoc", env={}) as runtime:
            session = runtime.session(agent="developer:general")
            routing = session.route("show me the rows of the orders table in our postgres database")
            by_name = runtime.state.current.capabilities
            assert routing.scores
            for name in routing.scores:
                assert not by_name[name].domains or "developer" in by_name[name].domains
            assert session.route("thank you so much").capability is None

    asyncio.run(scenario())


def test_every_skill_is_asked_and_used(real: Built) -> None:
    """All 101 skills can be asked by any agent's messages, and each can be used, forgotten and read."""

    async def scenario() -> None:
        assert real.outcome.bundle is not None
        async with Runtime.open(real.outcome.bundle, workspace=real.root) as runtime:
            asked: set[str] = set()
            for agent in runtime.agents:
                session = runtime.session(agent, name="octomind", workdir=real.tap)
                asked.update(session.available_skills)
            everything = runtime.session(workdir=real.tap, name="octomind")
            assert len(everything.available_skills) == len(asked) == COUNTS["skills"]
            fired = {match.skill for match in matching(everything.state, "write a landing page for google ads")}
            assert {"ad-google", "markup-landing-page"} <= fired
            developer = runtime.session("developer:general", workdir=real.tap)
            assert "ad-google" not in developer.available_skills
            for name in everything.available_skills:
                entry = everything.state.loaded.skills[name]
                if not entry.capabilities:
                    assert (await everything.use_skill(name)).block.startswith(f'<skill name="{name}" ')
                    assert (await everything.forget_skill(name)).ok

    asyncio.run(scenario())
