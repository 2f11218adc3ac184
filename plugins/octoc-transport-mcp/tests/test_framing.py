"""Laws of the framer: lines do not depend on how the bytes came, and it holds no more than its limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from octoc_transport_mcp.framing import END_BYTES, DroppedLine, LineFramer
from octoc_transport_mcp.pending_requests import PendingRequests

LIMIT = 2000


def framed(chunks: list[bytes]) -> list[bytes | DroppedLine]:
    """All lines of a stream that came in these chunks."""
    framer = LineFramer(LIMIT)
    return [*(line for chunk in chunks for line in framer.feed(chunk)), *framer.finish()]


@given(
    st.lists(st.binary(max_size=40) | st.integers(0, 3 * LIMIT).map(lambda size: b"ab" * (size // 2)), max_size=6),
    st.lists(st.integers(1, 700), min_size=1, max_size=8),
)
def test_lines_do_not_depend_on_chunks(parts: list[bytes], sizes: list[int]) -> None:
    """However the bytes are cut into chunks, the lines are the same, with dropped ones' length and both ends."""
    stream = b"\n".join(parts)
    chunks: list[bytes] = []
    start = 0
    while start < len(stream):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(stream[start : start + size])
        start += size
    *ended, rest = stream.split(b"\n")
    expected = [*ended, *([rest] if rest else [])]
    found = framed(chunks)
    assert len(found) == len(expected)
    for line, whole in zip(found, expected, strict=True):
        if len(whole) <= LIMIT:
            assert line == whole
        else:
            assert line == DroppedLine(head=whole[:END_BYTES], tail=whole[-END_BYTES:], length=len(whole))


@given(st.binary(max_size=300))
def test_any_line_is_taken_without_raising(line: bytes) -> None:
    """Output of a server never raises, and is an answer only while a request waits."""
    assert PendingRequests(LIMIT).admit(line) == [] or b'"method"' in line
