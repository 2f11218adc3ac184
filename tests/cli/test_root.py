"""The command itself: version, help, what it imports, how it ends."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import octoc.cli
from octoc import __version__
from octoc.cli.commands import GROUPS, SUMMARIES
from octoc.cli.failures import report_failure
from octoc.cli.root import root
from octoc.installation import install_command

Run = Callable[..., Any]
CHECKOUT = Path(__file__).resolve().parents[2]


def test_version(octoc_process: Run) -> None:
    """`--version` prints the name and the version."""
    done = octoc_process("--version")
    assert (done.status, done.out, done.err) == (0, f"octoc {__version__}\n", "")


def test_a_working_directory_that_was_deleted(tmp_path: Path) -> None:
    """A command that needs the folder that it is run in says that it is gone, exit status 2."""
    program = "import os; os.rmdir(os.getcwd()); from octoc.cli import main; raise SystemExit(main(['build']))"
    folder = tmp_path / "gone"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the working directory no longer exists\n")


def test_a_workspace_that_no_folder_can_be(octoc: Run) -> None:
    """A name that the system refuses is that of no folder, exit status 2."""
    done = octoc("build", "--workspace", "n" * 300)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: there is no folder `nnn")


@pytest.mark.parametrize("words", [["--version"], ["--help"]])
def test_what_the_command_imports(words: list[str]) -> None:
    """Neither loads rich, compiler, runtime, numpy, pluggy or a command, where no plugin of others is installed."""
    program = (
        "import json, sys\nfrom octoc.cli import main\n"
        f"main({words!r})\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    loaded = json.loads(done.stderr)
    assert "click" in loaded
    for absent in ("rich", "octoc.compiler", "octoc.runtime", "octoc.bundle", "numpy", "pluggy", "attr", "octoc_serve"):
        assert absent not in loaded
    assert [name for name in loaded if name.startswith("octoc.cli.commands.")] == []


def test_version_imports_click_and_nothing_else_of_others() -> None:
    """`--version` loads no package beside click."""
    program = "import sys\nfrom octoc.cli import main\nmain(['--version'])\nprint('attr' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    assert done.stdout.splitlines()[-1] == "False"


def test_help_names_every_command(octoc: Run) -> None:
    """`--help` lists each command once, in its group, with a line on what it does."""
    done = octoc("--help")
    assert done.status == 0
    titles = [f"{title}:" for title in GROUPS]
    lines = done.out[done.out.index(titles[0]) :].splitlines()
    assert [line for line in lines if line in titles] == titles
    assert [line.split()[0] for line in lines if line.startswith("  ")] == list(SUMMARIES)
    assert len(SUMMARIES) == sum(map(len, GROUPS.values()))


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_command_has_help(octoc: Run, name: str) -> None:
    """Each command explains itself with exit status 0."""
    done = octoc(name, "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"Usage: octoc {name} ")


def test_an_unknown_command_gets_near_names(octoc: Run) -> None:
    """A misspelt command is a usage error that names the near one."""
    done = octoc("biuld")
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith("Error: there is no command `biuld`: did you mean `build`?\n")


def test_an_unknown_option_is_a_usage_error(octoc: Run) -> None:
    """An option that a command does not have ends it with exit status 2."""
    done = octoc("check", "--lockd")
    assert (done.status, done.out) == (2, "")
    assert "--lockd" in done.err


def _command_that(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    command = click.Command("explain", callback=act)
    monkeypatch.setattr(type(root), "get_command", lambda *_: command)


def test_a_bug_is_reported_without_traceback_file_or_value(octoc: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected exception becomes OCT901: version, command, type and last functions; no file and no value."""

    def fail() -> None:
        raise KeyError("hunter2 at /home/someone")

    monkeypatch.delenv("OCTOC_DEBUG", raising=False)
    _command_that(monkeypatch, fail)
    done = octoc("explain")
    assert (done.status, done.out) == (2, "")
    lines = done.err.splitlines()
    assert lines[0].endswith("octoc failed with `KeyError`: this is a bug in octoc, not a mistake of yours")
    assert lines[0].startswith("error[OCT901] internal-error: ")
    assert f"octoc {__version__}, Python {sys.version.split()[0]} on {sys.platform}, command `explain`" in done.err
    assert "test_root.test_a_bug_is_reported_without_traceback_file_or_value.<locals>.fail:" in done.err
    assert "octoc explain OCT901" in done.err
    for hidden in ("Traceback", "hunter2", "/home", ".py"):
        assert hidden not in done.err


def test_debug_shows_the_traceback(octoc: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With OCTOC_DEBUG=1 the traceback of a bug is printed, too."""
    monkeypatch.setenv("OCTOC_DEBUG", "1")
    _command_that(monkeypatch, lambda: 1 // 0)
    done = octoc("explain")
    assert done.status == 2
    assert "Traceback" in done.err
    assert "OCT901" in done.err


@pytest.mark.parametrize(
    "package,install",
    [
        ("tree_sitter_toml", install_command("octoc", options="--force-reinstall")),
        ("re2", install_command("octoc", options="--force-reinstall")),
        ("onnxruntime", install_command("octoc[run]")),
        ("mcp.client", install_command("octoc[run]")),
        ("sklearn.linear_model", install_command("octoc[build]")),
    ],
)
def test_a_missing_package_says_what_installs_it(
    package: str, install: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A package that is not installed is named together with the command that brings it; exit status 2."""
    assert report_failure(ModuleNotFoundError(f"No module named '{package}'", name=package), ["build"]) == 2
    err = capsys.readouterr().err
    assert err == f"error: this needs the package `{package}`, which is not installed\n  = help: run `{install}`\n"


def test_ctrl_c_ends_quietly(octoc: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt ends a command with one word and exit status 2."""

    def interrupt() -> None:
        signal.raise_signal(signal.SIGINT)

    _command_that(monkeypatch, interrupt)
    # What runs in the background of a shell has the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = octoc("explain")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.status, done.out, done.err.strip()) == (2, "", "interrupted")


def test_a_closed_pipe_ends_quietly() -> None:
    """A reader that stops early ends a command without a word on stderr."""
    program = "from octoc.cli import main\nimport sys\nsys.exit(main(['explain', 'OCT901']))"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True, check=False, cwd=CHECKOUT
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_no_bug_of_octoc() -> None:
    """Where what a command prints finds no room, it says so in one line."""
    program = "from octoc.cli import main\nimport sys\nsys.exit(main(['explain', 'OCT901']))"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=CHECKOUT
        )
    said = "error: the output could not be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_that_is_started_without_a_stream_does_its_work(closed: str) -> None:
    """Without stdin, stdout or stderr what would be read is empty, and what would be written is dropped."""
    command = f"{shlex.quote(sys.executable)} -m octoc explain OCT901 {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("OCT901" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))


def test_main_returns_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    """`main` returns the exit status instead of leaving the process."""
    assert octoc.cli.main(["explain", "OCT999"]) == 1
    assert capsys.readouterr().out == ""
