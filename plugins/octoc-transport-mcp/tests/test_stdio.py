import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.plugin import (
    ConnectFailedError,
    Connection,
    ServerListing,
    ServerTarget,
    ToolCall,
    ToolFailure,
    ToolResult,
    Transport,
)
from octoc.testing import TransportContract, stdio_script
from octoc_transport_mcp import octoc_make_transport

# A server of the older era in plain Python, which starts at once and fails on request.
FAULTY = """
import json, os, signal, subprocess, sys, time

PAGES = {None: (["die", "hang"], ""), "": (["echo", "environment"], "3"), "3": (["garbage"], None)}
loop_for_ever = "--loop" in sys.argv
listings = 0
mute = "--mute" in sys.argv
if "--stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "--child" in sys.argv:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(f"child {child.pid}", file=sys.stderr, flush=True)

def send(id, **body):
    print(json.dumps({"jsonrpc": "2.0", "id": id, **body}), flush=True)

def text(id, words, **more):
    send(id, result={"content": [{"type": "text", "text": words}], **more})

def tools_call(id, name, arguments):
    if name == "die":
        print("line one\\nfatal: out of luck", file=sys.stderr, flush=True)
        os._exit(7)
    elif name == "hang":
        pass
    elif name == "echo":
        text(id, json.dumps(arguments))
    elif name == "environment":
        text(id, json.dumps({"env": dict(os.environ), "cwd": os.getcwd(), "pid": os.getpid()}))
    elif name == "garbage":
        print("this is no message", flush=True)
        text(id, "after garbage")
    elif name == "listings":
        text(id, str(listings))
    elif name == "malformed":
        send(id, result={"content": "not a list"})
    elif name == "refuse":
        send(id, error={"code": -32050, "message": "not today"})
    elif name == "chatter":
        print("x" * 5_000_000, file=sys.stderr, flush=True)
        text(id, "y" * 3_000_000)
    else:
        send(id, error={"code": -32602, "message": f"Unknown tool: {name}"})

def handle(id, method, params):
    global listings
    if method == "initialize":
        send(id, result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                         "serverInfo": {"name": "faulty", "version": "1"}, "instructions": "Be kind."})
    elif method == "tools/list":
        listings += 1
        names, cursor = PAGES[None if loop_for_ever else params.get("cursor")]
        tools = [{"name": name, "inputSchema": {"type": "object", "properties": {"x": {"default": None}}}}
                 for name in names]
        send(id, result={"tools": tools, **({} if cursor is None else {"nextCursor": cursor})})
    elif method == "tools/call":
        tools_call(id, params["name"], params.get("arguments"))
    elif id is not None:
        send(id, error={"code": -32601, "message": "Method not found"})

for line in sys.stdin:
    message = json.loads(line)
    if not mute:
        handle(message.get("id"), message.get("method"), message.get("params") or {})
if "--stubborn" in sys.argv:
    time.sleep(600)
"""


def faulty(*flags: str, **more: Any) -> ServerTarget:
    """A target that runs the faulty server."""
    fields = {"name": "faulty", "transport": "stdio", "command": sys.executable, "timeout_s": 30.0, **more}
    return ServerTarget(args=("-c", FAULTY, *flags), **fields)


def stdio() -> Transport:
    """The transport under test."""
    transport = octoc_make_transport("stdio")
    assert transport is not None
    return transport


def with_connection(target: ServerTarget, scenario: Callable[[Connection], Awaitable[None]]) -> None:
    """Run `scenario` on a connection to `target`, which is closed in the end."""

    async def run() -> None:
        connection = await stdio().connect(target)
        try:
            await scenario(connection)
        finally:
            await connection.close()

    asyncio.run(run())


def call(tool: str, timeout_s: float = 30.0, **arguments: Any) -> ToolCall:
    """A call of a tool of the faulty server."""
    return ToolCall(tool=tool, arguments=arguments, timeout_s=timeout_s)


def refusal(target: ServerTarget) -> str:
    """The message with which `target` cannot be connected."""
    with pytest.raises(ConnectFailedError) as caught:
        asyncio.run(stdio().connect(target))
    return str(caught.value)


def is_running(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def ends_soon(pid: int, seconds: float = 60.0) -> bool:
    """Whether a process that was killed is gone: on a busy machine the kernel takes its time."""
    until = time.monotonic() + seconds
    while is_running(pid):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def children_of(pid: int) -> list[int]:
    """The pids of a process's children."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def descriptors() -> int:
    """How many file descriptors this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


class TestFaultyServer(TransportContract):
    def make_transport(self) -> Transport:
        return stdio()

    def target(self) -> ServerTarget:
        return faulty()

    def unreachable_target(self) -> ServerTarget:
        return ServerTarget(
            name="gone",
            transport="stdio",
            command=sys.executable,
            args=("-c", "import os, sys; print(os.environ['TOKEN'], file=sys.stderr); sys.exit(3)"),
        )

    def good_call(self) -> ToolCall:
        return call("echo", words="hello")

    def slow_call(self) -> ToolCall:
        return call("hang", timeout_s=0.2)


class TestTimeServer(TransportContract):
    def make_transport(self) -> Transport:
        return stdio()

    def target(self) -> ServerTarget:
        return ServerTarget(
            name="time",
            transport="stdio",
            command=str(Path(sys.executable).with_name("mcp-server-time")),
            args=("--local-timezone=UTC",),
        )

    def unreachable_target(self) -> ServerTarget:
        return ServerTarget(name="gone", transport="stdio", command="octoc-no-such-command")

    def good_call(self) -> ToolCall:
        return call("get_current_time", timezone="Asia/Tokyo")


def test_pages_are_joined_and_an_empty_cursor_is_no_end() -> None:
    """All pages are listed in order, also after a cursor that is the empty string, and nulls in schemas are kept."""
    found: list[ServerListing] = []

    async def scenario(connection: Connection) -> None:
        found.append(await connection.list_tools())

    with_connection(faulty(), scenario)
    (listing,) = found
    assert [tool.name for tool in listing.tools] == ["die", "hang", "echo", "environment", "garbage"]
    assert listing.tools[0].wire["inputSchema"]["properties"] == {"x": {"default": None}}
    assert listing.server_info == {"name": "faulty", "version": "1"}
    assert listing.instructions == "Be kind."
    assert listing.protocol_version == "2025-06-18"


def test_a_call_costs_one_request(caplog: pytest.LogCaptureFixture) -> None:
    """All pages are listed once, before the first call; a tool of a later page, or of none, causes no other listing."""
    counts: list[str] = []

    async def scenario(connection: Connection) -> None:
        for name in ("echo", "garbage", "listings", "echo", "listings"):
            result = await connection.call(call(name))
            assert isinstance(result, ToolResult)
            counts.append(result.text)

    with_connection(faulty(), scenario)
    assert counts[2] == counts[4] == "3"
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


STRUCTURED = stdio_script("""
def tools():
    output = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    return [{"name": "count", "inputSchema": {"type": "object"}, "outputSchema": output}]


def call(name, arguments):
    return {"content": [], "structuredContent": arguments}
""")


def test_an_answer_against_its_own_schema_is_a_failure() -> None:
    """A structured answer that the tool's output schema forbids is a failure `protocol`, with one sentence of why."""

    async def scenario(connection: Connection) -> None:
        good = await connection.call(call("count", n=1))
        assert isinstance(good, ToolResult)
        assert good.structured == {"n": 1}
        bad = await connection.call(call("count", n="many"))
        assert isinstance(bad, ToolFailure)
        assert bad.kind == "protocol"
        assert bad.message.endswith("something that is not what it declares: 'many' is not of type 'integer'")

    with_connection(
        ServerTarget(name="s", transport="stdio", command=sys.executable, args=("-c", STRUCTURED)), scenario
    )


def test_a_cursor_that_comes_back_is_refused() -> None:
    """A server whose pages never end is refused, instead of being asked for ever."""

    async def scenario(connection: Connection) -> None:
        with pytest.raises(ConnectFailedError, match="repeats a page's cursor"):
            await connection.list_tools()

    with_connection(faulty("--loop"), scenario)


def test_a_server_that_dies_in_a_call_is_a_value(caplog: pytest.LogCaptureFixture) -> None:
    """The call, and each after it, is a failure with the exit code and the last line of stderr; the log has more."""

    async def scenario(connection: Connection) -> None:
        other = asyncio.create_task(connection.call(call("hang")))
        await asyncio.sleep(0)
        outcome = await connection.call(call("die"))
        assert isinstance(outcome, ToolFailure)
        assert outcome.kind == "connection_lost"
        assert outcome.message == "`faulty` exited with code 7: fatal: out of luck"
        assert (await other) == outcome
        assert not connection.alive
        assert caplog.messages.count("server `faulty` exited with code 7; stderr: line one | fatal: out of luck") == 1
        assert outcome.sent
        later = await connection.call(call("echo"))
        assert isinstance(later, ToolFailure)
        assert (later.kind, later.message, later.sent) == (outcome.kind, outcome.message, False)

    with_connection(faulty(), scenario)


def test_a_line_that_is_no_message_is_passed_over() -> None:
    """A stray line on stdout does not end the connection."""

    async def scenario(connection: Connection) -> None:
        result = await connection.call(call("garbage"))
        assert isinstance(result, ToolResult)
        assert result.text == "after garbage"

    with_connection(faulty(), scenario)


def test_an_answer_that_is_not_the_protocol_is_a_value() -> None:
    """A result of the wrong shape is a failure `protocol`, and the connection goes on."""

    async def scenario(connection: Connection) -> None:
        outcome = await connection.call(call("malformed"))
        assert isinstance(outcome, ToolFailure)
        assert outcome.kind == "protocol"
        assert (await connection.call(call("echo"))).ok

    with_connection(faulty(), scenario)


def test_another_error_is_the_servers_own_word() -> None:
    """A JSON-RPC error that is not about the call's form is an error result with the server's text."""

    async def scenario(connection: Connection) -> None:
        refused = attrs.evolve(ToolResult.of_text("not today", is_error=True), rpc_code=-32050)
        assert await connection.call(call("refuse")) == refused

    with_connection(faulty(), scenario)


def test_long_answers_and_a_full_stderr_do_not_block() -> None:
    """A server that writes megabytes to stderr and stdout is read to the end."""

    async def scenario(connection: Connection) -> None:
        result = await connection.call(call("chatter"))
        assert isinstance(result, ToolResult)
        assert len(result.text) == 3_000_000

    with_connection(faulty(), scenario)


def test_the_environment_is_the_targets_and_little_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server sees its own `env`, PATH and HOME, runs in `cwd`, and sees no other variable of the host."""
    monkeypatch.setenv("HOST_ONLY", "host-secret")

    async def scenario(connection: Connection) -> None:
        result = await connection.call(call("environment"))
        assert isinstance(result, ToolResult)
        assert "host-secret" not in result.text
        assert '"GIVEN": "given-value"' in result.text
        assert '"PATH"' in result.text
        assert f'"cwd": "{tmp_path}"' in result.text

    with_connection(faulty(env={"GIVEN": "given-value"}, cwd=str(tmp_path)), scenario)


def test_stderr_stays_with_the_connection(capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing that a server prints reaches the host's stdout or stderr."""

    async def scenario(connection: Connection) -> None:
        await connection.call(call("garbage"))
        await connection.call(call("die"))

    with_connection(faulty(), scenario)
    assert capfd.readouterr() == ("", "")


REFUSED = [
    ({"command": "octoc-no-such-command"}, "command `octoc-no-such-command` was not found on PATH"),
    ({"command": "/no/such/program"}, "command `/no/such/program` does not exist"),
    ({"command": "/"}, "command `/` may not be run: permission denied"),
    (
        {"command": "cat", "cwd": "/no/such/folder"},
        "the folder `/no/such/folder`, in which `cat` is to run, does not exist",
    ),
    ({"command": "sh", "args": ("-c", "echo why >&2; exit 4")}, "`sh` exited with code 4: why"),
    ({"command": "sh", "args": ("-c", "kill -9 $$")}, "`sh` was ended by signal 9"),
    ({"command": "cat"}, "`cat` does not speak MCP: Method not found"),
    ({"command": "a\0b"}, "command `ab` could not be started: embedded null byte"),
    ({"command": None}, "`x` has no `command` to connect to"),
    ({"command": "cat", "auth": {"type": "oauth"}}, "the `auth` of `x` is for servers with a `url`"),
    (
        {"command": "sh", "args": ("-c", "echo hello; exec sleep 600"), "timeout_s": 0.5},
        "`x` did not answer within 0.5 s; it printed `hello`, which is not MCP",
    ),
    (
        {"command": "sh", "args": ("-c", "echo starting >&2; exec sleep 600"), "timeout_s": 0.5},
        "`x` did not answer within 0.5 s; its last line on stderr: starting",
    ),
]


@pytest.mark.parametrize("fields,message", REFUSED, ids=lambda value: value[:40] if isinstance(value, str) else "")
def test_a_server_that_cannot_be_connected_says_why(fields: dict[str, Any], message: str) -> None:
    """Each way in which a server does not come up has one line that says which."""
    assert message in refusal(ServerTarget(name="x", transport="stdio", **fields))


def test_a_hang_at_connect_leaves_no_process(tmp_path: Path) -> None:
    """A server that never answers, and ignores SIGTERM, is gone when connecting has failed."""
    note = tmp_path / "pid"
    script = f"import os, pathlib; pathlib.Path({str(note)!r}).write_text(str(os.getpid()))\n" + FAULTY
    target = ServerTarget(
        name="mute",
        transport="stdio",
        command=sys.executable,
        args=("-c", script, "--mute", "--stubborn"),
        timeout_s=1.0,
    )
    assert "did not answer within 1 s" in refusal(target)
    assert not is_running(int(note.read_text(encoding="ascii")))


def pid_of(result: ToolResult | ToolFailure) -> int:
    """The pid that the tool `environment` told."""
    import json

    assert isinstance(result, ToolResult)
    return int(json.loads(result.text)["pid"])


def test_close_ends_a_stubborn_server_and_its_children() -> None:
    """A server that ignores the end of its stdin and SIGTERM is killed, with the processes that it started."""
    pids: list[int] = []

    async def scenario(connection: Connection) -> None:
        pids.append(pid_of(await connection.call(call("environment"))))
        pids.extend(children_of(pids[-1]))
        dead = await connection.call(call("die"))
        assert isinstance(dead, ToolFailure)
        assert "exited with code 7" in dead.message

    async def stubborn(connection: Connection) -> None:
        pids.append(pid_of(await connection.call(call("environment"))))
        pids.extend(children_of(pids[-1]))

    with_connection(faulty("--child"), scenario)
    with_connection(faulty("--child", "--stubborn"), stubborn)
    assert len(pids) == 4
    assert all(ends_soon(pid) for pid in pids)


def test_a_cancelled_connect_leaves_no_process(tmp_path: Path) -> None:
    """Cancelling `connect` passes through, with the process that it started stopped."""
    note = tmp_path / "pid"
    script = f"import os, pathlib; pathlib.Path({str(note)!r}).write_text(str(os.getpid()))\n" + FAULTY

    async def scenario() -> None:
        target = ServerTarget(name="mute", transport="stdio", command=sys.executable, args=("-c", script, "--mute"))
        task = asyncio.create_task(stdio().connect(target))
        while not (note.exists() and note.stat().st_size):  # noqa: ASYNC110  # the event is another process's
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert not is_running(int(note.read_text(encoding="ascii")))


def test_a_host_that_never_closes_leaves_no_process() -> None:
    """When the host's loop ends with a connection open, the server's process ends too."""

    async def scenario() -> int:
        connection = await stdio().connect(faulty())
        return pid_of(await connection.call(call("environment")))

    assert not is_running(asyncio.run(scenario()))


def test_connections_leave_nothing_behind() -> None:
    """Connecting, calling and closing again and again leaves no open descriptor and no task."""

    async def scenario() -> list[tuple[int, int]]:
        counts = []
        for _ in range(4):
            connection = await stdio().connect(faulty())
            results = await asyncio.gather(*(connection.call(call("echo", n=n)) for n in range(20)))
            assert [result.ok for result in results] == [True] * 20
            await connection.close()
            counts.append((descriptors(), len(asyncio.all_tasks())))
        return counts

    counts = asyncio.run(scenario())
    assert counts[1:] == counts[:-1]


def test_importing_the_plugin_is_light() -> None:
    """Importing the module and making a transport loads neither the SDK nor what it stands on."""
    code = (
        "import sys, octoc_transport_mcp as p; p.octoc_make_transport('stdio');"
        "print(sorted({'mcp', 'mcp_types', 'anyio', 'httpx2', 'pydantic', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"


def test_other_kinds_are_left_to_other_plugins() -> None:
    """A kind that is not this plugin's is answered with None."""
    assert octoc_make_transport("ws") is None
