"""`octoc pin` on live servers: what it keeps, shows and returns."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder, stdio_script

from .conftest import Run

SERVER = stdio_script("""
kind = sys.argv[1]


def tools():
    if kind == "slow":
        Path("asked").write_text("yes")
        time.sleep(600)
    if kind.startswith("meeting"):
        Path(kind).touch()
        while len(list(Path().glob("meeting-*"))) < 20:
            time.sleep(0.05)
    if kind == "listed":
        return json.loads(Path("tools.json").read_text())
    return ["one", ""] if kind == "unnamed" else ["one"]


def call(name, arguments):
    return "done"
""")


def workspace(folder: Path, *kinds: str, mode: str = "development", **fields: Any) -> Path:
    """Write a workspace with a server of each kind: `quick`, `slow`, `unnamed`, or `needy`, which lacks a variable."""
    folder.mkdir(exist_ok=True)
    (folder / "server.py").write_text(SERVER, encoding="utf-8")
    builder = WorkspaceBuilder(folder, plugins={"use": ["transport-mcp"]}, mcp={"files": [".mcp.json"]})
    builder.settings("workspace", mode=mode)
    for kind in kinds:
        more = ("${OCTOC_TEST_NOT_SET}",) if kind == "needy" else ()
        builder.server(kind, sys.executable, "server.py", kind, *more, **fields)
    builder.write()
    return folder


def wait_for(*paths: Path) -> None:
    """Wait until all paths exist, a minute at most."""
    end = time.monotonic() + 60
    while not all(path.exists() for path in paths):
        assert time.monotonic() < end, paths
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_an_interrupt_keeps_the_answers_that_are_there(tmp_path: Path) -> None:
    """Interrupted, the command keeps what servers answered, names the one it waits for, and exits with 2."""
    folder = workspace(tmp_path / "ws", "quick", "slow")
    terminal, stderr = os.openpty()
    command = [sys.executable, "-m", "octoc", "pin", "--yes"]
    env = {name: value for name, value in os.environ.items() if name != "CI"}  # where no progress is shown
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True, env=env) as pinning:
        os.close(stderr)
        wait_for(folder / "asked", folder / "snapshots" / "quick.json")
        pinning.send_signal(signal.SIGINT)
        out, _ = pinning.communicate(timeout=60)
    shown = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert (pinning.returncode, out) == (2, "quick: 1 tool, new\n"), shown
    assert "waiting for `slow` 1/2" in shown
    assert "stopped while waiting for `slow`; the answers of the others are kept" in shown
    assert not (folder / "snapshots" / "slow.json").exists()


def test_a_workspace_that_cannot_be_read_is_an_abnormal_end(octoc: Run, tmp_path: Path) -> None:
    """Where octoc.toml cannot be read, nothing is pinned and the exit status is 2."""
    folder = workspace(tmp_path / "ws", "quick")
    (folder / "octoc.toml").write_text("[workspace\n", encoding="utf-8")
    assert octoc("pin", "--yes", "--workspace", str(folder)).status == 2


def test_a_server_that_only_lacks_variables_is_listed(octoc: Run, tmp_path: Path) -> None:
    """A missing variable is a warning that names it; with --strict the command fails."""
    folder = workspace(tmp_path / "ws", "quick", "needy")
    done = octoc("pin", "--yes", "--workspace", str(folder))
    assert (done.status, done.out) == (0, "quick: 1 tool, new\n"), done.err
    assert "warning[OCT544] pin-failed: server `needy` could not be pinned" in done.err
    assert "`OCTOC_TEST_NOT_SET`, which is not set" in done.err
    strict = octoc("pin", "--yes", "--strict", "--workspace", str(folder))
    assert strict.status == 1
    assert "error[OCT544]" in strict.err


def test_a_server_of_the_host_has_nothing_to_record(octoc: Run, tmp_path: Path) -> None:
    """`octoc pin` and `octoc show tool` of a server that the host binds say so, and neither leads to the other."""
    builder = WorkspaceBuilder(tmp_path, servers={"local": {"builtin": "local"}}, plugins={"use": []})
    bundle = str(builder.build(plugins_of()).bundle)
    pinned = octoc("pin", "local", "--workspace", str(tmp_path))
    shown = octoc("show", "tool", "local/stock", "--bundle", bundle)
    for done in (pinned, shown):
        assert done.status == 1
        assert "the host brings its tools with `runtime.bind`" in " ".join(done.err.split())
        assert "octoc pin" not in done.err


def test_a_tool_that_was_left_out_stays_a_finding(octoc: Run, tmp_path: Path) -> None:
    """Each check names a tool that has no usable name, not only the command that pinned its server."""
    folder = workspace(tmp_path / "ws", "unnamed")
    assert octoc("pin", "--yes", "--workspace", str(folder)).status == 0
    for _ in range(2):
        found = json.loads(octoc("check", "--json", "--workspace", str(folder)).out)
        (left_out,) = (one for one in found if one["code"] == "OCT316")
        assert left_out["message"] == "server `unnamed` listed a tool that was left out, number 2: it has no name"
        assert left_out["file"] == "snapshots/unnamed.json"


def test_production_sends_nothing_over_plain_http(octoc: Run, tmp_path: Path) -> None:
    """A production workspace pins no server at a plain HTTP address beyond this machine."""
    folder = workspace(tmp_path / "ws", mode="production")
    server = {"type": "http", "url": "http://mcp.invalid/mcp"}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"web": server}}), encoding="utf-8")
    done = octoc("pin", "--yes", "--workspace", str(folder))
    assert done.status == 1
    assert "which production mode refuses" in done.err


def tools_of(folder: Path, **schemas: object) -> None:
    """Have the server of `listed` list tools with these input schemas."""
    listed = [{"name": name, "inputSchema": schema} for name, schema in schemas.items()]
    (folder / "tools.json").write_text(json.dumps(listed), encoding="utf-8")


def test_a_command_that_was_not_approved_is_not_started(
    octoc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal pin names the command and starts nothing; --yes approves it, until the command changes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = workspace(tmp_path / "ws", "quick")
    here = ("--workspace", str(folder))
    done = octoc("pin", *here)
    assert (done.status, done.out) == (1, "")
    assert "error[OCT791] command-not-approved: server `quick` was not started" in done.err
    assert "server.py quick" in done.err
    found = json.loads(octoc("pin", "--json", *here).out)
    assert [one["code"] for one in found["diagnostics"]] == ["OCT791"]
    assert not (folder / "snapshots").exists()
    assert octoc("pin", "--yes", *here).status == 0
    assert octoc("pin", *here).out == "quick: 1 tool, unchanged\n"
    workspace(folder, "quick", "unnamed")
    done = octoc("pin", *here)
    assert (done.status, done.out) == (1, "quick: 1 tool, unchanged\n")
    assert "server `unnamed` was not started" in done.err
    other = workspace(tmp_path / "other", "quick")
    assert octoc("pin", "--workspace", str(other)).status == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_is_asked_before_a_command_starts(tmp_path: Path) -> None:
    """On a terminal pin shows each command line and asks; `n` starts nothing, and `y` is remembered."""
    folder = workspace(tmp_path / "ws", "quick")
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    for answer, status, out in (("n", 1, ""), ("y", 0, "quick: 1 tool, new\n"), ("", 0, "quick: 1 tool, unchanged\n")):
        terminal, end = os.openpty()
        os.write(terminal, f"{answer}\n".encode())
        command = [sys.executable, "-m", "octoc", "pin"]
        done = subprocess.run(
            command, cwd=folder, stdin=end, stdout=subprocess.PIPE, stderr=end, text=True, env=env, check=False
        )
        os.close(end)
        shown = os.read(terminal, 65536).decode()
        os.close(terminal)
        assert (done.returncode, done.stdout) == (status, out), shown
        assert ("server.py quick" in shown) == bool(answer)


def test_check_compares_live_servers_with_their_snapshots(octoc: Run, tmp_path: Path) -> None:
    """The exit status is 0 without a change, 1 with one and 2 where a server does not answer; nothing is written."""
    folder = workspace(tmp_path / "ws", "listed")
    here = ("--workspace", str(folder))
    tools_of(folder, read={"type": "object"}, send={"type": "object"})
    assert octoc("pin", "--yes", *here).status == 0
    recorded = (folder / "snapshots" / "listed.json").read_bytes()
    assert octoc("pin", "--check", *here).status == 0
    tools_of(folder, read={"type": "object", "properties": {"path": {}}, "required": ["path"]})
    done = octoc("pin", "--check", *here)
    assert done.status == 1
    assert "breaking: listed/read argument `path` added, and required (parameter-required-added)" in done.out
    assert "breaking: listed/send removed (tool-removed)" in done.out
    found = json.loads(octoc("pin", "--check", "--json", *here).out)
    assert found["counts"]["breaking"] == 2
    (folder / "tools.json").write_text("no JSON", encoding="utf-8")
    assert octoc("pin", "--check", *here).status == 2
    assert (folder / "snapshots" / "listed.json").read_bytes() == recorded


def test_changes_of_tools_that_the_filter_leaves_out_are_one_line(octoc: Run, tmp_path: Path) -> None:
    """They are counted and do not fail the check, yet an approval asks before it records them."""
    folder = workspace(tmp_path / "ws", "listed", include_tools=["read"])
    here = ("--workspace", str(folder))
    schema = {"type": "object"}
    tools_of(folder, read=schema, send=schema, drop=schema)
    assert octoc("pin", "--yes", *here).status == 0
    tools_of(folder, read=schema, send={**schema, "required": ["to"]})
    done = octoc("pin", "--check", *here)
    line = "2 changed tools are left out by `include_tools` or `exclude_tools`"
    assert (done.status, done.out) == (0, f"no difference between recorded and live\nlisted: {line}\n")
    assert json.loads(octoc("pin", "--check", "--json", *here).out)["left_out"] == {"listed": ["drop", "send"]}
    assert octoc("pin", "--approve", "listed", *here).status == 1
    assert "listed/send" in octoc("pin", "--approve", "listed/send", *here).err
    assert octoc("pin", *here).out == f"listed: 2 tools, unchanged\n  {line}\n"
    assert octoc("pin", "--check", *here).out == "no difference between recorded and live\n"


def test_check_lists_a_server_that_only_lacks_variables(octoc: Run, tmp_path: Path) -> None:
    """The others decide the exit status; --strict, or no other server that was compared, makes it 2."""
    here = ("--workspace", str(workspace(tmp_path / "ws", "quick", "needy")))
    assert octoc("pin", "--yes", *here).status == 0
    done = octoc("pin", "--check", *here)
    assert (done.status, "1 server compared, 1 not" in done.out) == (0, True)
    assert "warning[OCT544]" in done.err
    assert octoc("pin", "--check", "--strict", *here).status == 2
    assert octoc("pin", "--check", "needy", *here).status == 2


def test_a_check_that_could_compare_nothing_reports_no_difference_nor_sameness(
    octoc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that was not approved is not compared: stdout counts it, and the help keeps to --check."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    done = octoc("pin", "--check", "--workspace", str(workspace(tmp_path / "ws", "quick")))
    assert (done.status, done.out) == (2, "0 servers compared, 1 not\n")
    assert "run `octoc pin --check` in a terminal and answer its question, or `octoc pin --check --yes`" in done.err


def test_a_call_of_a_server_that_changed_warns_once(
    octoc: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In development the call is made, and one warning has the change's rule and the commands that show and accept it.

    A pin that records the change names what shows it in full.
    """
    folder = workspace(tmp_path / "ws", "listed")
    here = ("--workspace", str(folder))
    tools_of(folder, read={"type": "object"})
    assert octoc("pin", "--yes", *here).status == 0
    assert octoc("build", *here).status == 0
    assert octoc("call", "listed", "read", *here).status == 0
    assert not caplog.records
    tools_of(folder, read={"type": "object", "properties": {"path": {"type": "string"}}})
    done = octoc("call", "listed", "read", *here)
    assert (done.status, done.out) == (0, "done\n")
    (warning,) = (one.getMessage() for one in caplog.records)
    assert "changed `read` (parameter-added)" in warning
    assert "`octoc pin --check listed` shows the change" in warning
    pinned = octoc("pin", *here)
    assert "1 change\n" in pinned.out
    assert "`git diff snapshots` shows them in full" in pinned.err


def test_an_approval_takes_a_new_definition_of_the_same_tools(octoc: Run, tmp_path: Path) -> None:
    """Where only the command line changed, --approve leads to a snapshot that no check calls stale."""
    folder = workspace(tmp_path / "ws", "quick")
    here = ("--workspace", str(folder))
    assert octoc("pin", "--yes", *here).status == 0
    settings = folder / ".mcp.json"
    text = settings.read_text(encoding="utf-8").replace('"server.py"', '"-u", "server.py"')
    settings.write_text(text, encoding="utf-8")
    stale = octoc("check", *here)
    assert "OCT313" in stale.out
    assert "`octoc pin --approve quick` records it" in stale.out
    assert octoc("pin", "--approve", "quick", "--yes", *here).status == 0
    assert "OCT313" not in octoc("check", *here).out


def test_an_approved_tool_is_recorded_alone(octoc: Run, tmp_path: Path) -> None:
    """--approve shows a change and records it with --yes; without a terminal and --yes nothing is recorded."""
    folder = workspace(tmp_path / "ws", "listed")
    here = ("--workspace", str(folder))
    tools_of(folder, read={"type": "object"}, send={"type": "object"})
    assert octoc("pin", "--yes", *here).status == 0
    tools_of(folder, read={"type": "object", "title": "R"}, send={"type": "object", "title": "S"})
    done = octoc("pin", "--approve", "listed/read", *here)
    assert done.status == 1
    assert "wording: listed/read arguments: description changed (schema-text-changed)" in done.err
    assert "error[OCT792] pin-not-approved" in done.err
    found = json.loads(octoc("pin", "--approve", "listed/read", "--json", *here).out)
    assert [one["code"] for one in found["diagnostics"]] == ["OCT792"]
    approved = octoc("pin", "--approve", "listed/read", "--yes", *here)
    assert (approved.status, "next: `octoc build`" in approved.err) == (0, True)
    left = octoc("pin", "--check", *here)
    assert left.status == 1
    assert "listed/read" not in left.out
    assert "listed/send" in left.out
    assert octoc("pin", "--approve", "listed", "--yes", *here).status == 0
    assert octoc("pin", "--check", *here).status == 0
    assert octoc("pin", "--approve", "listed", *here).status == 0


def test_many_slow_servers_start_at_the_same_time(octoc: Run, tmp_path: Path) -> None:
    """Twenty servers that answer only when all of them run are all recorded."""
    folder = workspace(tmp_path / "ws", *(f"meeting-{number}" for number in range(20)))
    done = octoc("pin", "--yes", "--workspace", str(folder))
    assert (done.status, len(done.out.splitlines())) == (0, 20), done.err


def test_many_failing_servers_are_one_table(octoc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of one cause share a row with its next step, also in 40 columns; one failing server is shown in full."""
    folder = workspace(tmp_path / "ws", "needy")
    failing = {f"absent-{number}": {"command": "no-such-program"} for number in range(20)}
    servers = {**json.loads((folder / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"], **failing}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    done = octoc("pin", "--yes", "--workspace", str(folder))
    assert done.status == 1
    title, header, needy, absent, hint = done.err.splitlines()
    assert title == "21 servers could not be pinned"
    assert header.split() == ["server", "cause", "next", "step"]
    assert re.split(r"  +", needy) == [
        "needy",
        "needs `OCTOC_TEST_NOT_SET`, which is not set",
        "set `OCTOC_TEST_NOT_SET` in your environment",
    ]
    assert "absent-0, absent-1, absent-2" in absent
    assert absent.endswith("install `no-such-program`, or correct `command`")
    assert hint == "`octoc pin needy` tries one again, and shows where it is defined"
    monkeypatch.setattr("octoc.cli.report.columns_of", lambda **_: 40)
    narrow = octoc("pin", "--yes", "--workspace", str(folder)).err
    assert max(map(len, narrow.splitlines())) <= 40
    assert "  next: install `no-such-program`, or\n    correct `command`\n" in narrow
    assert len(json.loads(octoc("pin", "--yes", "--json", "--workspace", str(folder)).out)["diagnostics"]) == 21


def test_a_failure_has_its_line_in_a_file_of_any_client(octoc: Run, tmp_path: Path) -> None:
    """The place of a server in a client's TOML is its table, as `octoc check` has it."""
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(
        'model = "m"\n\n[mcp_servers.docs]\ncommand = "no-such-program"\n', encoding="utf-8"
    )
    done = octoc("pin", "--yes", "--workspace", str(tmp_path))
    assert "--> .codex/config.toml:3:1" in done.err
    assert "help: install `no-such-program`, or correct `command`, then run `octoc pin docs`" in done.err
