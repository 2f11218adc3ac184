"""Hostile text on the screen, and commands that are used wrongly."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Octoc

HOSTILE = "\\u001b[31mred\\u001b]0;title\\u0007 \\u202eabc\\u2066 \\u0000\\u0085\\u2028 \\u009b1m"
SHOWN_RAW = {"\x1b", "\x07", "\u202e", "\u2066", "\x00", "\x85", "\u2028", "\x9b"}


@pytest.mark.parametrize("command", [["check", "-v"], ["check", "--output-format", "concise", "-v"], ["build", "-v"]])
def test_what_a_terminal_would_obey_is_escaped(octoc: Octoc, folder: Path, command: list[str]) -> None:
    """Names and values with escapes, and with marks that turn text around, are shown and not obeyed."""
    hostile = json.loads(f'"{HOSTILE}"')
    servers = {hostile: {"command": "x", hostile: 1}, "a": {"command": hostile, "type": hostile}, "b": hostile}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}, ensure_ascii=False), encoding="utf-8")
    (folder / "extra.json").write_text(f'{{"mcpServers": {{"{HOSTILE}": {{"command": 1}}}}, {chr(0x1B)} "b": 1}}')
    (folder / "agents" / "\x1b[2J").mkdir()
    done = octoc(*command, "--workspace", str(folder))
    assert done.status == 1
    assert SHOWN_RAW.isdisjoint(done.text)


def test_a_very_long_line_is_cut(octoc: Octoc, folder: Path) -> None:
    """A line of a million characters is quoted around the mistake only."""
    (folder / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "' + "x" * 1_000_000 + '", "args": 7}}}')
    done = octoc("check", "--workspace", str(folder))
    assert done.status == 1
    assert max(map(len, done.text.splitlines())) < 300


def test_five_hundred_mistakes_are_all_reported(octoc: Octoc, folder: Path) -> None:
    """Each mistake is reported once, and the last line counts them."""
    servers = ",\n".join(f'"s{i}": {{"command": {i}}}' for i in range(500))
    (folder / ".mcp.json").write_text(f'{{"mcpServers": {{\n{servers}\n}}}}')
    done = octoc("check", "--workspace", str(folder))
    assert done.status == 1
    assert done.out.count("error[OCT203]") == 500


@pytest.mark.parametrize(
    "arguments, status, said",
    [
        (["chekc"], 2, "did you mean `check`?"),
        (["frobnicate-all"], 2, "expected one of"),
        (["build", "--lokced"], 2, "--locked"),
        (["explain", "nonsense"], 1, "unknown rule"),
        (["explain", "OCT999"], 1, "unknown rule"),
        (["explain", "../../etc/passwd"], 1, "unknown rule"),
        (["explain", "OCT101\x1b[0m"], 1, "unknown rule"),
        (["call", "time", "time_read", "{bad}", "--bundle", "BUNDLE"], 1, "column 2"),
        (["call", "time", "time_read", "[1]", "--bundle", "BUNDLE"], 1, "array"),
        (["call", "time", "time_read", "[" * 100_000, "--bundle", "BUNDLE"], 1, "the arguments"),
        (["call", "tiem", "time_read", "{}", "--bundle", "BUNDLE"], 1, "`time`"),
        (["find", "read", "--agent", "helpre", "--bundle", "BUNDLE"], 1, "`helper`"),
        (["route", "x", "--agent", "\x1b[31m", "--bundle", "BUNDLE"], 1, "agent"),
        (["show", "--bundle", "/no/such/file"], 1, "OCT601"),
        (["build", "--workspace", "/no/such/folder"], 2, "there is no folder"),
        (["pin", "--from", "/no/such/file", "--workspace", "FOLDER"], 2, "/no/such/file"),
        (["pin", "tiem", "--workspace", "FOLDER"], 1, "`time`"),
        (["build", "--output", "/proc/nope/x.octoc", "--workspace", "FOLDER"], 1, "OCT607"),
    ],
)
def test_misuse_is_told_with_the_next_step(
    octoc: Octoc, folder: Path, arguments: list[str], status: int, said: str
) -> None:
    """The exit status is as documented, the text says what was meant, and nothing is obeyed by the terminal."""
    bundle = str(folder / "dist" / "acme.octoc")
    words = [bundle if word == "BUNDLE" else str(folder) if word == "FOLDER" else word for word in arguments]
    done = octoc(*words)
    assert done.status == status
    assert said in done.text
    assert "\x1b" not in done.text


def test_a_locked_build_reports_each_reason(octoc: Octoc, folder: Path) -> None:
    """Every change since the lock is reported with status 1, and nothing is written."""
    before = (folder / "octoc.lock").read_bytes(), (folder / "dist/acme.octoc").read_bytes()
    provider = folder / "taps/acme/capabilities/time/installed.toml"
    provider.write_text(provider.read_text().replace("time-server", "other-server"))
    (folder / "snapshots/files.json").unlink()
    settings = folder / "octoc.toml"
    settings.write_text(settings.read_text() + "max_active = 2\n")
    done = octoc("build", "--locked", "--output-format", "concise", "--workspace", str(folder))
    assert done.status == 1
    assert {"OCT504", "OCT507", "OCT508", "OCT512"} <= {word[6:12] for word in done.out.split() if "[OCT" in word}
    assert before == ((folder / "octoc.lock").read_bytes(), (folder / "dist/acme.octoc").read_bytes())


@pytest.mark.parametrize("command", ["build", "check", "show", "find x", "route x", "call a b {}", "pin"])
def test_a_folder_that_is_no_workspace_is_told(tmp_path: Path, command: str) -> None:
    """Outside of any workspace the status is 2, and the message says how to start one."""
    done = subprocess.run(
        [sys.executable, "-m", "octoc", *command.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "octoc init" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_early_is_no_bug(sound: Path) -> None:
    """`octoc show --json | head -1` ends without a traceback."""
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(
        [sys.executable, "-m", "octoc", "show", "--json", "--bundle", str(sound / "dist/acme.octoc")],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert "Traceback" not in process.stderr
    assert "OCT901" not in process.stderr
    assert process.returncode in (0, 1, 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere and read everything")
def test_a_folder_that_cannot_be_written_is_told(octoc: Octoc, folder: Path) -> None:
    """A build that cannot write says so, and the old bundle stays."""
    (folder / "extra.json").unlink()
    for path in (folder, folder / "dist"):
        path.chmod(0o555)
    try:
        done = octoc("build", "--workspace", str(folder))
    finally:
        for path in (folder, folder / "dist"):
            path.chmod(0o755)
    assert done.status == 1
    assert "OCT607" in done.text
