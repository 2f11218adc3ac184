"""What of a server's command line is a program that the lock pins."""

import os
from pathlib import Path

import pytest

from octoc.compiler.discover import programs
from octoc.compiler.lock.text import parse
from octoc.compiler.workspace.build import build
from octoc.diagnostics.model import Diagnostic
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

SCRIPT = "#!/bin/sh\n"


def _build(root: Path, *, locked: bool = False) -> tuple[Diagnostic, ...]:
    return build(root, locked=locked, plugins=plugins_of(), allow_degraded=True).diagnostics


def _pinned(root: Path) -> set[str]:
    """Return the programs that the lock has after a build; they are in folders that hold nothing else."""
    _build(root)
    content = parse((root / "octoc.lock").read_text(encoding="utf-8"))
    return {path for path in content.files if path.startswith(("bin/", "servers/"))} | set(content.taps["shared"].files)


@pytest.fixture
def builder(tmp_path: Path) -> WorkspaceBuilder:
    """A workspace with programs, data, and a tap beside it."""
    (tmp_path / "shared/skills").mkdir(parents=True)
    (tmp_path / "shared/run.py").write_text("print()\n", encoding="utf-8")
    builder = WorkspaceBuilder(tmp_path / "acme", plugins={"use": []})
    builder.file("octoc.toml", '[workspace]\nname = "acme"\n\n[[taps]]\nname = "shared"\npath = "../shared"\n')
    return builder


@pytest.mark.parametrize(
    "command, pinned",
    [
        (["python", "servers/a.py"], {"servers/a.py"}),
        (["python", "${workspaceFolder}/servers/a.py"], {"servers/a.py"}),
        (["./bin/server", "servers/data.json"], {"bin/server"}),
        (["node", "--require=./servers/a.py", "bin/server"], {"servers/a.py", "bin/server"}),
        (["sh", "-c", "python 'servers/a.py'; bin/server &"], {"servers/a.py", "bin/server"}),
        (["python", "../shared/run.py"], {"run.py"}),
        (["python", "servers/../../shared/run.py"], {"run.py"}),
        (["python", "servers"], set()),
        (["python", "servers/none.py"], set()),
        (["server", "--db", "bin/data.sqlite"], set()),
        (["python", "${SERVERS}/a.py"], set()),
        (["node", "node_modules/server/main.js"], set()),
        (["bin/venv/bin/python", "bin/venv/lib/a.py"], set()),
        (["python", "../elsewhere.py"], set()),
        (["python", "servers/a.py\0"], set()),
    ],
)
def test_a_program_is_a_file_of_workspace_or_tap_that_is_executed(
    builder: WorkspaceBuilder, tmp_path: Path, command: list[str], pinned: set[str]
) -> None:
    """Scripts and executables that exist are pinned; folders, data, installed packages and files elsewhere are not."""
    builder.file("servers/a.py", "print()\n").file("bin/server", SCRIPT).file("servers/data.json", "{}\n")
    builder.file("bin/data.sqlite", "data\n").file("node_modules/server/main.js", "main()\n")
    builder.file("bin/venv/pyvenv.cfg", "\n").file("bin/venv/bin/python", SCRIPT).file("bin/venv/lib/a.py", "\n")
    (tmp_path / "elsewhere.py").write_text("print()\n", encoding="utf-8")
    assert _pinned(builder.server("one", *command).write()) == pinned


def test_a_program_starts_at_the_folder_that_its_server_runs_in(builder: WorkspaceBuilder) -> None:
    """With `cwd` a relative path leads from there."""
    builder.file("servers/a.py", "print()\n").file("a.py", "print()\n")
    assert _pinned(builder.server("one", "python", "a.py", cwd="servers").write()) == {"servers/a.py"}


@pytest.mark.parametrize("late", ["servers/a.py", "bin/server"])
def test_a_program_that_changes_or_appears_is_seen_by_the_next_build(builder: WorkspaceBuilder, late: str) -> None:
    """A build that is remembered is not repeated when a program that it did not find is there, or is another one."""
    root = builder.file("README.md", "\n").server("one", "python", "servers/a.py", "bin/server").write()
    assert _pinned(root) == set()
    for text in (SCRIPT, f"{SCRIPT}exit\n"):
        builder.file(late, text).write()
        assert [one.rule.code for one in _build(root, locked=True) if one.rule.code == "OCT505"] == ["OCT505"]
        assert _pinned(root) == {late}
        assert [one for one in _build(root, locked=True) if one.rule.code.startswith("OCT50")] == []


def test_a_program_that_cannot_be_pinned_is_a_finding(
    builder: WorkspaceBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that leads elsewhere is not followed, and a file over the limit is not read; each is a warning."""
    monkeypatch.setattr(programs, "MAX_BYTES", 100)
    (tmp_path / "elsewhere.py").write_text("print()\n", encoding="utf-8")
    builder.server("one", "python", "servers/link.py").server("two", "./bin/large")
    root = builder.file("bin/large", f"{SCRIPT}{'#' * 100}").file("servers/a.py", "").write()
    (root / "servers/link.py").symlink_to(tmp_path / "elsewhere.py")
    found = [(one.message, one.span and one.span.file) for one in _build(root) if one.rule.code == "OCT518"]
    assert [where for _, where in found] == [".mcp.json", ".mcp.json"]
    assert "`servers/link.py`, which is a link to a file outside" in found[0][0]
    assert "`bin/large`, which has more than" in found[1][0]
    assert _pinned(root) == set()


SKILL = "---\nname: tidy\ndescription: Tidies a folder up\n---\n\nTidy up.\n"


def test_the_lock_keeps_its_bits_where_files_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without executable bits a locked build passes, and a build writes the bits that the lock had."""
    builder = WorkspaceBuilder(tmp_path, plugins={"use": []}, skills={"paths": [".agents/skills"]}).tap("acme")
    scripts = [f"{folder}/tidy/run.sh" for folder in (".agents/skills", "taps/acme/skills")]
    for script in scripts:
        builder.file(f"{Path(script).parent}/SKILL.md", SKILL).file(script, SCRIPT)
    root = builder.write()
    for script in scripts:
        (root / script).chmod(0o755)
    _build(root)
    lock = (root / "octoc.lock").read_text(encoding="utf-8")
    for script in scripts:
        (root / script).chmod(0o644)
    assert [one.rule.code for one in _build(root, locked=True)].count("OCT505") == 1
    monkeypatch.setattr(os, "chmod", lambda *_: None)
    assert [one for one in _build(root, locked=True) if one.rule.code.startswith("OCT5")] == []
    _build(root)
    assert (root / "octoc.lock").read_text(encoding="utf-8") == lock
