"""`Bash`: what a command gets, its limits, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Tools = Callable[..., str]
MakeTools = Callable[..., Any]
OUTER_PROCESSES = 200
BOMBS = {
    "bash": ":(){ :|:& };:; sleep 60",
    "every process in a session of its own": (
        """export b='setsid bash -c "$b" & setsid bash -c "$b" & wait'; eval "$b"; sleep 60"""
    ),
}


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if a test leaves a process below this one, a descriptor or a temporary folder."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    before = _descriptors(), _children()
    yield
    assert list(place.iterdir()) == []
    assert _descriptors() <= before[0]
    assert _children() <= before[1]


def _descriptors() -> set[str]:
    return {one.name for one in Path("/proc/self/fd").iterdir()}


def _children() -> set[str]:
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread may end meanwhile
            found.update((task / "children").read_text().split())
    return found


def _has_ended(pid: int) -> bool:
    """Wait until a process has ended."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 60)[0])
    finally:
        os.close(watched)


def test_output(make_tools: MakeTools) -> None:
    """The result has both streams and the exit code, in Octo's form; a command starts in the folder."""
    tools = make_tools(programs=["*"])
    assert tools("Bash", command="printf hi") == "hi"
    assert tools("Bash", command="true") == "(no output)"
    assert tools("Bash", command="echo out; echo err >&2; exit 3") == "out\n\n[stderr]\nerr\n\n[exit code: 3]"
    assert tools("Bash", command="kill -9 $$") == "[exit code: -9]"
    assert tools("Bash", command="pwd") == f"{tools.root}\n"
    assert tools("Bash", command="head -c 60000 /dev/zero | tr '\\0' x") == "x" * 50_000 + "\n... (truncated)"
    assert tools("Bash", command="a\0b").startswith("! Error executing command: ")


def test_the_environment_is_clean(make_tools: MakeTools, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command has no variable, descriptor or input of the host, and a home of its own that is removed."""
    monkeypatch.setenv("API_KEY", "rhubarb")
    tools = make_tools(programs=["*"])
    names = {line.partition("=")[0] for line in tools("Bash", command="env").splitlines()}
    assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "TERM", "PWD", "OLDPWD", "SHLVL", "_"}
    assert tools("Bash", command="ls /proc/self/fd | wc -l; cat") == "4\n"
    home = tools("Bash", command="touch $HOME/x; mkdir -m 0 $HOME/closed; echo $HOME").strip()
    assert not Path(home).exists()


def test_only_allowed_programs(make_tools: MakeTools) -> None:
    """Without `*` the shell finds the named programs alone, and has no way around: no paths, PATH, exec or files."""
    tools = make_tools(programs=["ls", "cat", "no-such-program"])
    (tools.root / "a.txt").write_text("one\n")
    assert tools("Bash", command="ls; cat a.txt | cat") == "a.txt\none\n"
    for command in [
        "id", "/usr/bin/id", "PATH=/usr/bin; id", "exec id", "command -p id", "hash -p /usr/bin/id id; id", "cd /; ls",
        "env id", "BASH_CMDS[id]=/usr/bin/id; id", "enable -f x y", ". /etc/profile", "echo x > b.txt", "set +r; id",
        "exec 3>b.txt", "no-such-program",
    ]:  # fmt: skip
        text = tools("Bash", command=command)
        assert "exit code: " in text or "restricted" in text, command
        assert "uid=" not in text, command
    assert [one.name for one in tools.root.iterdir()] == ["a.txt"]
    assert "restricted (no cd, no redirection of output) and can start: ls, cat" in tools.by_name["Bash"].description


def test_without_programs_there_is_no_bash(make_tools: MakeTools) -> None:
    """A workspace that allows no program has no `Bash`."""
    tools = make_tools()
    assert "Read" in tools.by_name
    assert "Bash" not in tools.by_name


def test_a_program_that_ignores_sigterm(make_tools: MakeTools) -> None:
    """A command that takes too long is killed, also if it ignores SIGTERM, with all that it started."""
    tools = make_tools(programs=["*"], seconds=1)
    ignoring = "trap '' TERM; (sleep 1000 & disown); setsid sleep 1000 & echo $! > pid; sleep 1000"
    assert tools("Bash", command=ignoring, timeout=60) == "! Error: Command timed out after 1s"
    assert not Path(f"/proc/{(tools.root / 'pid').read_text().strip()}").exists()


def test_what_a_command_leaves_is_ended(make_tools: MakeTools) -> None:
    """A process that a command puts into the background, or into another session, ends with it."""
    tools = make_tools(programs=["*"])
    os.mkfifo(tools.root / "ready")
    in_a_session = "setsid bash -c 'echo $$ > ready; exec sleep 1000' & cat ready"
    text = tools("Bash", command=f"sleep 1000 & echo $!; nohup sleep 1000 & echo $!; ({in_a_session})")
    assert [Path(f"/proc/{pid}").exists() for pid in text.split()] == [False] * 3


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_fork_bomb(root: Path, bomb: str) -> None:
    """A fork bomb is ended when it passes the limit, long before the outer limit of 200 processes would stop it."""
    program = (
        "import asyncio, json, sys\n"
        "from octoc.plugin import ServerTarget, load_plugins\n"
        "from octoc_tools_files import octoc_tools\n"
        "target = ServerTarget(name='files', transport='builtin', cwd=sys.argv[1], settings={'programs': ['*']})\n"
        "tools = {tool.name: tool for tool in octoc_tools('files', target)}\n"
        "result = asyncio.run(tools['Bash'].handler({'command': sys.argv[2]}))\n"
        "print(json.dumps([result.is_error, result.text]))\n"
    )
    arguments = [*_outer_limit(), sys.executable, "-c", program, str(root), bomb]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TMPDIR": tempfile.gettempdir()}
    root.chmod(0o777)
    Path(tempfile.gettempdir()).chmod(0o777)
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    assert json.loads(done.stdout) == [True, "Error: Command started more than 64 processes, and was ended"]


def _outer_limit() -> list[str]:
    """Return a command that runs another one with at most OUTER_PROCESSES processes: the system exempts root."""
    prlimit, setpriv = shutil.which("prlimit"), shutil.which("setpriv")
    if prlimit is None:
        pytest.skip("no program `prlimit`")
    if os.geteuid():
        running = sum(one.stat().st_uid == os.getuid() for one in Path("/proc").glob("[0-9]*") if one.exists())
        return [prlimit, f"--nproc={running + OUTER_PROCESSES}"]
    if setpriv is None:
        pytest.skip("no program `setpriv`")
    user, read = 200_000 + os.getpid() % 50_000, "+dac_override,+dac_read_search"
    return [
        setpriv, f"--reuid={user}", f"--regid={user}", "--clear-groups", f"--inh-caps=-all,{read}",
        f"--ambient-caps={read}",
        prlimit, f"--nproc={OUTER_PROCESSES}",
    ]  # fmt: skip


def test_too_much_memory(make_tools: MakeTools) -> None:
    """A command whose processes have more memory together than allowed is ended."""
    tools = make_tools(programs=["*"], memory_mb=64)
    one = f"{sys.executable} -c 'import time; x = bytearray(40_000_000); time.sleep(1000)'"
    text = tools("Bash", command=f"{one} & {one}")
    assert text == "! Error: Command took more than 64 MiB of memory, and was ended"


def test_too_much_memory_of_one_process(make_tools: MakeTools) -> None:
    """A process that asks for more memory than allowed does not get it."""
    tools = make_tools(programs=["*"], memory_mb=64)
    text = tools("Bash", command=f"{sys.executable} -c 'x = bytearray(10 ** 9)'")
    assert "MemoryError" in text


def test_too_much_output(make_tools: MakeTools) -> None:
    """A command that writes without end is ended."""
    text = make_tools(programs=["*"])("Bash", command="yes")
    assert text == "! Error: Command wrote more than 8388608 bytes, and was ended"


@pytest.mark.parametrize("missing", ["program", "limits"])
def test_bash_refuses_to_start(make_tools: MakeTools, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Where there is no shell, or no limit on processes would hold, nothing starts and the text says why."""
    tools = make_tools(programs=["*"])
    if missing == "program":
        monkeypatch.setattr(shutil, "which", lambda _: None)
        expected = "! Error executing command: Bash does not start, as there is no program `bash`"
    else:
        guard = Path(sys.modules["octoc_tools_files.bash"].__dict__["GUARD"]).read_text()
        other = tools.root / "guard.py"
        other.write_text(guard.replace('"linux"', '"another system"'))
        monkeypatch.setattr("octoc_tools_files.bash.GUARD", other)
        expected = "! Error executing command: Bash does not start, as its limits need Linux"
    assert tools("Bash", command="touch started") == expected
    assert not (tools.root / "started").exists()


def test_a_cancelled_call(make_tools: MakeTools) -> None:
    """When a call is cancelled, its command has ended before the caller goes on."""
    tools = make_tools(programs=["*"])
    os.mkfifo(tools.root / "pid")

    async def run() -> int:
        call = asyncio.ensure_future(tools.call("Bash", command="echo $$ > pid; trap '' TERM; sleep 1000"))
        pid = int(await asyncio.to_thread((tools.root / "pid").read_text))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return pid

    assert not Path(f"/proc/{asyncio.run(run())}").exists()


def test_the_death_of_the_host(root: Path) -> None:
    """When the host is killed in the middle of a command, the command ends too, and its folder is removed."""
    os.mkfifo(root / "pid")
    program = (
        "import asyncio, sys\n"
        "from octoc.plugin import ServerTarget\n"
        "from octoc_tools_files import octoc_tools\n"
        "target = ServerTarget(name='files', transport='builtin', cwd=sys.argv[1], settings={'programs': ['*']})\n"
        "tools = {tool.name: tool for tool in octoc_tools('files', target)}\n"
        "command = 'echo $$ $PPID > pid; setsid sleep 1000 & sleep 1000'\n"
        "asyncio.run(tools['Bash'].handler({'command': command}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TMPDIR": tempfile.gettempdir()}
    with subprocess.Popen([sys.executable, "-c", program, str(root)], env=environment) as host:
        pids = [int(pid) for pid in (root / "pid").read_text().split()]
        host.send_signal(signal.SIGKILL)
    assert all(_has_ended(pid) for pid in pids)
