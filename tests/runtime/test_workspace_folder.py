"""What `${workspaceFolder}` means in a bundle: the workspace, wherever the process runs and the two were moved to."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from octoc.bundle.reader import OpenBundle
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder, stdio_script

SERVER = stdio_script("""
def tools():
    return ["read"]


def call(name, arguments):
    return Path(sys.argv[1]).read_text() + "|" + os.getcwd()
""")


def workspace(folder: Path, note: str) -> Path:
    """Build a workspace with one server that reads `note.txt` of the workspace; return its bundle."""
    builder = WorkspaceBuilder(folder, plugins={"use": ["transport-mcp"]}, mcp={"files": [".mcp.json"]})
    builder.server("notes", sys.executable, "${workspaceFolder}/server.py", "${workspaceFolder}/note.txt")
    builder.file("server.py", SERVER).file("note.txt", note)
    outcome = builder.build()
    assert outcome.bundle is not None, outcome.diagnostics
    return outcome.bundle


async def read(runtime: Runtime) -> str:
    """What the server reads, and where it runs."""
    outcome = await runtime.call_direct("notes", "read")
    return outcome.text


@pytest.mark.anyio
async def test_a_bundle_runs_in_its_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server finds the workspace's files from any working directory, also when workspace and bundle moved."""
    bundle = workspace(tmp_path / "ws", "first")
    assert OpenBundle.open(bundle).bundle.workspace == ".."
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    async with Runtime.open(f"../ws/dist/{bundle.name}") as runtime:
        assert await read(runtime) == f"first|{tmp_path / 'ws'}"
    (tmp_path / "link.octoc").symlink_to(bundle)
    async with Runtime.open(tmp_path / "link.octoc") as runtime:
        assert runtime.workspace == tmp_path / "ws"
    shutil.move(tmp_path / "ws", tmp_path / "moved")
    async with Runtime.open(tmp_path / "moved" / "dist" / bundle.name) as runtime:
        assert await read(runtime) == f"first|{tmp_path / 'moved'}"


@pytest.mark.anyio
async def test_a_host_names_the_workspace(tmp_path: Path) -> None:
    """`workspace=` wins over what the bundle records, and a file that is missing there is named."""
    bundle = workspace(tmp_path / "ws", "first")
    other = tmp_path / "other"
    other.mkdir()
    async with Runtime.open(bundle, workspace=other) as runtime:
        assert runtime.workspace == other
        assert f"{other}/server.py" in await read(runtime)  # Python's own words about the script
    shutil.copy(tmp_path / "ws" / "server.py", other)
    (other / "note.txt").write_text("second", encoding="utf-8")
    async with Runtime.open(bundle, workspace=other) as runtime:
        assert await read(runtime) == f"second|{other}"


@pytest.mark.anyio
async def test_a_reload_uses_the_workspace_of_the_new_bundle(tmp_path: Path) -> None:
    """After a reload from another folder servers run there, although their definitions are the same."""
    old, new = workspace(tmp_path / "one", "first"), workspace(tmp_path / "two", "second")
    async with Runtime.open(old) as runtime:
        assert await read(runtime) == f"first|{tmp_path / 'one'}"
        await runtime.reload(new)
        assert await read(runtime) == f"second|{tmp_path / 'two'}"


def test_the_command_line_uses_it_too(tmp_path: Path) -> None:
    """`octoc call --bundle` runs servers in the bundle's workspace, and `--workspace` names another folder."""
    bundle = workspace(tmp_path / "ws", "first")
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "ws" / "server.py", other)
    (other / "note.txt").write_text("second", encoding="utf-8")
    call = [sys.executable, "-m", "octoc", "call", "notes", "read", "--bundle", str(bundle)]
    for more, text in (([], f"first|{tmp_path / 'ws'}"), (["--workspace", str(other)], f"second|{other}")):
        done = subprocess.run([*call, *more], cwd=other, capture_output=True, text=True, check=False)
        assert text in done.stdout, done.stderr


def test_a_bundle_outside_of_its_workspace_records_no_folder_of_this_machine(tmp_path: Path) -> None:
    """A bundle written elsewhere has no way to the workspace, which would name folders of the machine."""
    from octoc.compiler.workspace.build import build

    workspace(tmp_path / "ws", "first")
    outcome = build(tmp_path / "ws", output=tmp_path / "out" / "a.octoc")
    assert outcome.bundle is not None
    assert OpenBundle.open(outcome.bundle).bundle.workspace == ""
    assert json.dumps(str(tmp_path))[1:-1].encode() not in outcome.bundle.read_bytes()
    outcome = build(tmp_path / "ws", output=tmp_path / "ws" / "a" / "b" / "c.octoc")
    assert outcome.bundle is not None
    assert OpenBundle.open(outcome.bundle).bundle.workspace == "../.."
