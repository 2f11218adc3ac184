"""Laws: whatever bytes a workspace's files hold, the stages that find mistakes return."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.cli import main

from .conftest import write_files

FILES = (
    *("octoc.toml", ".mcp.json", "taps/acme/capabilities/time/config.toml", "taps/acme/agents/dev/builder.toml"),
    *("taps/acme/capabilities/time/installed.toml", "taps/acme/capabilities/time/default.toml"),
    *("agents/helper/AGENT.md", "taps/acme/skills/tidy/SKILL.md", "snapshots/time.json", "octoc.lock"),
)
PIECES = (
    *(b'"', b"'", b"{", b"}", b"[", b"]", b"=", b":", b",", b"\n", b"#", b"---\n", b"- ", b"\0", b"\xff", b"\\", b"${"),
    *(b'"""', b"null", b"nan", b"1e999", b"\\ud800", b"\xef\xbb\xbf", b"\r", b"*", b"${X}", b"{{INPUT:X}}", b".", b"/"),
)


@st.composite
def mutated(draw: st.DrawFn, sound: bytes) -> bytes:
    """A real-looking file of which parts were cut, copied or replaced."""
    data = sound
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        middle = draw(st.sampled_from((b"", data[start:end] * 2, *PIECES)))
        data = data[:start] + middle + data[min(end, start + 20) :]
    return data


@settings(max_examples=60)
@given(data=st.data())
def test_check_returns_whatever_the_files_hold(sound: Path, data: st.DataObject) -> None:
    """Random bytes and mutations of real-looking files give the statuses 0 and 1, never an abnormal end."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "acme"
        write_files(root)
        shutil.copytree(sound / "snapshots", root / "snapshots")
        shutil.copy(sound / "octoc.lock", root)
        for file in data.draw(st.lists(st.sampled_from(FILES), min_size=1, max_size=3, unique=True)):
            old = (root / file).read_bytes()
            (root / file).write_bytes(data.draw(st.one_of(st.binary(max_size=200), mutated(old))))
        assert main(["check", "--workspace", str(root)]) in (0, 1)
