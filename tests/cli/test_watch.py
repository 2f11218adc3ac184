"""`octoc watch`: one process, real edits, and each line that it prints."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import CHECKOUT, Run


def servers(*names: str) -> str:
    """Return a file of servers that are never started."""
    return json.dumps({"mcpServers": {name: {"command": "python3"} for name in names}})


def replace(path: Path, text: str) -> None:
    """Write a file aside and rename it over the old one, as editors do."""
    aside = path.with_name(f".{path.name}.new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)


def test_each_round_prints_what_is_new_and_gone(tmp_path: Path) -> None:
    """Replaced files, a broken octoc.toml and a new folder each start one round, outputs none; Ctrl-C ends with 0."""
    settings = '[workspace]\nname = "acme"\n'
    (tmp_path / "octoc.toml").write_text(settings, encoding="utf-8")
    (tmp_path / ".mcp.json").write_text(servers("one"), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "octoc", "watch"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stdout is not None
        lines = []

        def until(start: str) -> None:
            while True:
                line = watching.stdout.readline()  # type: ignore[union-attr]  # it is a pipe
                assert line, watching.communicate()
                lines.append(re.sub(r"^\d\d:\d\d:\d\d |, [\d,]+ bytes$", "", line.rstrip("\n")))
                if lines[-1].startswith(start):
                    return

        until("  octoc.lock: it is new")
        replace(tmp_path / ".mcp.json", servers("one", "One"))
        until("  octoc.lock: server")
        aside = tmp_path.with_name(f"{tmp_path.name}-agents")
        (aside / "new").mkdir(parents=True)
        (aside / "new" / "AGENT.md").write_text("---\nname: [\n---\n", encoding="utf-8")
        aside.rename(tmp_path / "agents")
        until("no bundle")
        until("  +")
        (tmp_path / "notes.txt").write_text("not an input", encoding="utf-8")
        replace(tmp_path / "octoc.toml", "[workspace\n")
        until("  +")
        replace(tmp_path / "octoc.toml", settings)
        until("  -")
        watching.send_signal(signal.SIGINT)
        rest, err = watching.communicate(timeout=60)
    assert (watching.returncode, rest, err) == (0, "", "")
    assert [re.sub(r"(\[OCT\d+\]).*", r"\1", line) for line in lines] == [
        "no problems found, 1 info",
        "built dist/acme.octoc",
        "  octoc.lock: it is new",
        "`.mcp.json`: 1 warning, 1 info (1 new)",
        "  + .mcp.json:1:48: warning[OCT764]",
        "built dist/acme.octoc",
        "  octoc.lock: file `.mcp.json` changed",
        "  octoc.lock: server `One` added",
        "`agents`: 1 error, 1 warning, 1 info (1 new)",
        "  + agents/new/AGENT.md:3:1: error[OCT114]",
        "no bundle was written",
        "  + warning[OCT608]",
        "`octoc.toml`: 1 error (1 new)",
        "  + octoc.toml:1:11: error[OCT106]",
        "`octoc.toml`: 1 error, 1 warning, 1 info (1 gone)",
        "  - octoc.toml:1:11: error[OCT106]",
    ]


def test_a_folder_without_inputs_is_an_error(octoc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is nothing to check the command says so and does not wait."""
    monkeypatch.chdir(tmp_path)
    done = octoc("watch")
    assert (done.status, done.out) == (2, "")
    assert "nothing to check here" in done.err
