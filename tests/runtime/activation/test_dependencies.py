"""Dependencies at activation: looked for, run by bash in a clean environment, or not run."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.runtime.activation.activate import ActivationChange, activate

if TYPE_CHECKING:
    from octoc.runtime import Runtime
    from tests.runtime.conftest import Fleet

NOT_RUN = "octoc does not install deps: they were not run."


def _with(fleet: Fleet, **settings: Any) -> None:
    fleet.settings = attrs.evolve(fleet.settings, **settings)


def _enabled(fleet: Fleet, name: str = "tools", times: int = 1, **options: Any) -> ActivationChange:
    """Return what became of activating a capability, in `times` sessions at once."""
    fleet.agent()

    async def scenario() -> ActivationChange:
        async with fleet.open(**options) as runtime:
            sessions = [runtime.session() for _ in range(times)]
            changes = await asyncio.gather(*(activate(session.state, name) for session in sessions))
            assert len({(change.ok, change.text) for change in changes}) == 1
            return changes[0]

    return asyncio.run(scenario())


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the PATH, with a program `there` in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "there"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}")
    return folder


@pytest.mark.usefixtures("path")
class TestCheck:
    def test_what_is_installed_is_said_in_octominds_words(self, fleet: Fleet) -> None:
        """A program that is on PATH is there; the script is not run, nor is the program."""
        fleet.dep("org/there", "exit 9", program="there")
        fleet.capability("tools", deps=("org/there",))
        assert _enabled(fleet) == ActivationChange(
            ok=True, changed=True, text="Capability 'tools' enabled. Installed deps: org/there"
        )

    def test_what_is_missing_is_said(self, fleet: Fleet) -> None:
        """A capability with only dependencies activates and names those not installed and those unknown."""
        fleet.dep("org/there", program="there")
        fleet.dep("org/gone", program="gone")
        fleet.dep("org/mute")
        fleet.capability("tools", deps=("org/gone", "org/there", "org/mute", "org/none"))
        how = "nothing says how to look for it"
        assert _enabled(fleet).text == (
            "Capability 'tools' enabled. It has no servers. Installed deps: org/there. "
            f"Not installed: org/gone (no `gone` on PATH). Not known whether installed: org/mute ({how}), "
            f"org/none ({how}). {NOT_RUN}"
        )

    def test_a_server_that_does_not_start_may_miss_one(self, fleet: Fleet) -> None:
        """The reason why a server cannot be connected is followed by what is not installed."""
        fleet.server("web", ["fetch"]).broken = "there is no program `gone`"
        fleet.dep("org/gone", program="gone")
        fleet.capability("tools", fleet.grant("web"), deps=("org/gone",))
        assert _enabled(fleet) == ActivationChange(
            ok=False,
            text="Capability 'tools' could not be activated: server 'web': there is no program `gone`; "
            "not installed: org/gone (no `gone` on PATH)",
        )

    def test_a_server_that_does_start_says_it_too(self, fleet: Fleet) -> None:
        """Where the server runs, what is missing stands below its tools."""
        fleet.server("web", ["fetch"])
        fleet.dep("org/gone", program="gone")
        fleet.capability("tools", fleet.grant("web", "fetch"), deps=("org/gone",))
        assert _enabled(fleet).text.splitlines()[1:] == [
            "Tools available: web__fetch",
            "Not installed: org/gone (no `gone` on PATH)",
        ]

    def test_never_does_not_look(self, fleet: Fleet) -> None:
        """With `never` nothing is looked for."""
        _with(fleet, deps="never")
        fleet.dep("org/there", program="there")
        fleet.capability("tools", deps=("org/there",))
        assert _enabled(fleet).text == (
            f"Capability 'tools' enabled. It has no servers and expects these deps: org/there. {NOT_RUN}"
        )


class TestRun:
    @pytest.fixture(autouse=True)
    def _run(self, fleet: Fleet) -> None:
        _with(fleet, deps="run", deps_timeout_s=20.0)

    def test_a_script_is_run_once_for_all_who_wait(self, fleet: Fleet, tmp_path: Path) -> None:
        """Five sessions that activate at once share one run, and each hears that the dependency is installed."""
        log = tmp_path / "log"
        fleet.dep("org/tool", f"echo ran >> {log}\nsleep 0.2\n")
        fleet.capability("tools", deps=("org/tool",))
        assert _enabled(fleet, times=5).text == "Capability 'tools' enabled. Installed deps: org/tool"
        assert log.read_text() == "ran\n"

    def test_the_environment_is_clean(self, fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A script sees PATH and HOME, and nothing else that the host has set; it may not ask for input."""
        monkeypatch.setenv("API_KEY", "s3cr3t-v4lue")
        monkeypatch.setenv("OTHER", "o")
        seen = tmp_path / "seen"
        fleet.dep("org/tool", f"env > {seen}; pwd >> {seen}; cat >> {seen}\n")
        fleet.capability("tools", deps=("org/tool",))
        assert _enabled(fleet).ok
        lines = seen.read_text().splitlines()
        names = {line.partition("=")[0] for line in lines if "=" in line}
        assert "PATH" in names
        assert not {"API_KEY", "OTHER"} & names
        assert "s3cr3t-v4lue" not in seen.read_text()
        assert any("octoc-script-" in line for line in lines)
        assert not [line for line in lines if "octoc-script-" in line and Path(line).exists()]

    def test_a_script_that_fails(self, fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A failed script stops the activation; the failure has its status and last words without secrets."""
        monkeypatch.setenv("API_KEY", "s3cr3t-v4lue")
        log = tmp_path / "log"
        fleet.dep("org/bad", f"echo ran >> {log}; echo no disk; echo the key is s3cr3t-v4lue. >&2; exit 3\n")
        fleet.dep("org/later", f"echo later >> {log}\n")
        fleet.capability("tools", deps=("org/bad", "org/later"))
        fleet.agent()

        async def scenario() -> list[ActivationChange]:
            async with fleet.open() as runtime:
                session = runtime.session()
                return [await activate(session.state, "tools"), await activate(session.state, "tools")]

        first, again = asyncio.run(scenario())
        assert first == ActivationChange(
            ok=False,
            text="Capability 'tools' could not be activated: dependency 'org/bad': it ended with status 3: "
            "no disk the key is ***",
        )
        assert again == first
        assert log.read_text() == "ran\n"

    def test_a_flood_of_output_is_bounded(self, fleet: Fleet) -> None:
        """A failure shows the last few hundred characters of megabytes of output."""
        fleet.dep("org/loud", "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 1\n")
        fleet.capability("tools", deps=("org/loud",))
        text = _enabled(fleet).text
        assert text.endswith("xxx the end")
        assert len(text) < 500

    def test_a_script_that_hangs_is_ended_with_its_children(self, fleet: Fleet, tmp_path: Path) -> None:
        """At the time limit the whole process group ends, also what ignores the first signal."""
        _with(fleet, deps_timeout_s=0.3)
        pids = tmp_path / "pids"
        fleet.dep("org/slow", f"trap '' TERM\necho $$ >> {pids}\nsleep 600 & echo $! >> {pids}\nwait; sleep 600\n")
        fleet.capability("tools", deps=("org/slow",))
        assert _enabled(fleet).text == (
            "Capability 'tools' could not be activated: dependency 'org/slow': it did not end within 0.3 s"
        )
        _all_gone(pids)

    def test_whoever_waited_last_ends_it(self, fleet: Fleet, tmp_path: Path) -> None:
        """A script goes on while one session waits for it, ends when the last is cancelled, and can run anew."""
        pids, go = tmp_path / "pids", tmp_path / "go"
        fleet.dep("org/slow", f"[ -e {go} ] && exit 0\necho $$ >> {pids}\nsleep 600\n")
        fleet.capability("tools", deps=("org/slow",))
        fleet.agent()

        async def scenario() -> ActivationChange:
            async with fleet.open() as runtime:
                one, two = (asyncio.create_task(activate(runtime.session().state, "tools")) for _ in range(2))
                await asyncio.to_thread(_started, pids)
                one.cancel()
                await asyncio.gather(one, return_exceptions=True)
                os.kill(int(pids.read_text()), 0)  # it is still there
                two.cancel()
                await asyncio.gather(two, return_exceptions=True)
                _all_gone(pids)
                go.touch()
                return await activate(runtime.session().state, "tools")

        assert asyncio.run(scenario()).ok

    def test_closing_the_runtime_ends_it(self, fleet: Fleet, tmp_path: Path) -> None:
        """A script that runs when the runtime is closed is ended, and the activation says so."""
        pids = tmp_path / "pids"
        fleet.dep("org/slow", f"echo $$ >> {pids}\nsleep 600\n")
        fleet.capability("tools", deps=("org/slow",))
        fleet.agent()

        async def scenario() -> ActivationChange:
            runtime: Runtime = fleet.open()
            waiting = asyncio.create_task(activate(runtime.session().state, "tools"))
            await asyncio.to_thread(_started, pids)
            await runtime.close()
            return await waiting

        assert asyncio.run(scenario()).text.endswith("dependency 'org/slow': the runtime is closed")
        _all_gone(pids)

    @pytest.mark.parametrize("output", ["", ">/dev/null 2>&1"], ids=["that holds the output", "that is silent"])
    def test_a_script_that_leaves_a_child_behind(self, fleet: Fleet, tmp_path: Path, output: str) -> None:
        """A child is ended with the script, and does not keep the activation waiting."""
        pids = tmp_path / "pids"
        fleet.dep("org/tool", f"sleep 600 {output} & echo $! >> {pids}\nexit 0\n")
        fleet.capability("tools", deps=("org/tool",))
        assert _enabled(fleet).ok
        _all_gone(pids)

    @pytest.mark.parametrize(
        "digest, note",
        [("0" * 64, "its script is not what was built"), ("", "the bundle has no script for it")],
        ids=["another digest", "no script"],
    )
    def test_only_what_was_built_is_run(self, fleet: Fleet, tmp_path: Path, digest: str, note: str) -> None:
        """A script that is missing in the bundle or differs from its digest is not run."""
        log = tmp_path / "log"
        fleet.dep("org/tool", f"echo ran >> {log}\n", digest=digest)
        fleet.capability("tools", deps=("org/tool",))
        assert _enabled(fleet).text == f"Capability 'tools' could not be activated: dependency 'org/tool': {note}"
        assert not log.exists()


class TestHostsLimit:
    """`Runtime.open(deps=…)`: a host forbids what a bundle asks for."""

    @pytest.mark.parametrize("allowed, state", [("never", "expects these deps"), ("check", "Not installed")])
    def test_a_host_forbids_scripts(self, fleet: Fleet, tmp_path: Path, allowed: str, state: str) -> None:
        """A bundle that asks for `run` gets no more than the host allows, and no script is executed."""
        _with(fleet, deps="run")
        fleet.dep("org/tool", f"touch {tmp_path}/ran\n", program="surely-not-there")
        fleet.capability("tools", deps=("org/tool",))
        change = _enabled(fleet, deps=allowed)
        assert change.ok
        assert state in change.text
        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize("asked", ["never", "check"])
    def test_a_host_adds_nothing(self, fleet: Fleet, tmp_path: Path, asked: str) -> None:
        """A host that allows scripts runs none for a bundle that does not ask for it."""
        _with(fleet, deps=asked)
        fleet.dep("org/tool", f"touch {tmp_path}/ran\n", program="surely-not-there")
        fleet.capability("tools", deps=("org/tool",))
        assert _enabled(fleet, deps="run").ok
        assert not (tmp_path / "ran").exists()

    def test_the_limit_outlives_a_reload(self, fleet: Fleet, tmp_path: Path) -> None:
        """A bundle that is loaded later gets no more than the first."""
        fleet.capability("tools", deps=("org/tool",))
        fleet.dep("org/tool", f"touch {tmp_path}/ran\n")
        fleet.agent()

        async def scenario() -> ActivationChange:
            async with fleet.open(deps="never") as runtime:
                _with(fleet, deps="run")
                await runtime.reload(fleet.write())
                assert runtime.bundle.settings.deps == "run"
                return await activate(runtime.session().state, "tools")

        assert asyncio.run(scenario()).ok
        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize("option", ["deps", "validate"])
    def test_a_misspelled_limit_is_refused(self, fleet: Fleet, option: str) -> None:
        """A word that is not known raises, as it must not allow more than was meant."""
        fleet.agent()
        with pytest.raises(ValueError, match=f"`{option}` is `nevr`, expected `never`"):
            fleet.open(**{option: "nevr"})


def _started(pids: Path) -> None:
    """Wait until a script has said that it runs."""
    for _ in range(12000):
        if pids.exists() and pids.read_text().endswith("\n"):
            return
        time.sleep(0.01)
    pytest.fail("the script did not start")


def _all_gone(pids: Path) -> None:
    """Wait until none of the processes lives. An orphan is a zombie until its new parent has looked."""
    numbers = [int(line) for line in pids.read_text().split()]
    assert numbers
    for number in numbers:
        for _ in range(6000):
            try:
                state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                break
            if state == "Z":
                break
            time.sleep(0.01)
        else:
            pytest.fail(f"process {number} still lives")
