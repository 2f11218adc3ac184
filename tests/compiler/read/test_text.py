"""Bytes to text: what is read as if absent, and what is refused with its reason."""

import os
from pathlib import Path

import pytest

from octoc.compiler.read.text import Limit, decode, load_text, text_reader
from octoc.diagnostics.model import DiagnosticSink

LIMIT = Limit(size=1000, key="max_file_bytes")


def found(sink: DiagnosticSink) -> list[tuple[str, int, int, str]]:
    """Return code, line, column and message of every finding."""
    return [(each.rule.code, each.span.line, each.span.column, each.message) for each in sink.diagnostics if each.span]


def test_a_byte_order_mark_and_crlf_are_read_as_if_absent() -> None:
    """Text with a UTF-8 byte-order mark and CRLF is the text without either."""
    sink = DiagnosticSink()
    assert decode(b"\xef\xbb\xbfa = 1\r\nb = 2\r\n", "a.toml", sink) == "a = 1\nb = 2\n"
    assert sink.diagnostics == ()


REFUSED = [
    ("a = 1".encode("utf-16"), ("OCT103", 0, 0, "`a.toml` is saved as UTF-16, expected UTF-8")),
    ("a = 1\n".encode("utf-16-le"), ("OCT103", 0, 0, "`a.toml` is saved as UTF-16, expected UTF-8")),
    ("a = 1\n".encode("utf-16-be"), ("OCT103", 0, 0, "`a.toml` is saved as UTF-16, expected UTF-8")),
    ("a = 1".encode("utf-32"), ("OCT103", 0, 0, "`a.toml` is saved as UTF-32, expected UTF-8")),
    (b"\x89PNG\r\n\x1a\n\x00\x01", ("OCT104", 0, 0, "`a.toml` is binary: byte 9 is NUL, expected text in UTF-8")),
    ("a = 1\nü = 'caf".encode() + b"\xe9'", ("OCT103", 2, 9, "byte `0xe9` is not UTF-8")),
    (b"\xef\xbb\xbf\xff", ("OCT103", 1, 1, "byte `0xff` is not UTF-8")),
    (b"a\xf0\x9f", ("OCT103", 1, 2, "byte `0xf0` is not UTF-8")),
    (b"", ("OCT105", 0, 0, "`a.toml` is empty")),
    (b"\xef\xbb\xbf \r\n\t", ("OCT105", 0, 0, "`a.toml` is empty")),
]


@pytest.mark.parametrize("data,expected", REFUSED)
def test_bytes_that_are_no_text_are_refused_with_the_reason(data: bytes, expected: tuple[str, int, int, str]) -> None:
    """Each kind of bytes that is not UTF-8 text has its own finding, at the first bad byte where there is one."""
    sink = DiagnosticSink()
    assert decode(data, "a.toml", sink) is None
    assert found(sink) == [expected]


def test_a_file_over_its_limit_is_refused_and_one_at_it_is_read(tmp_path: Path) -> None:
    """The limit is the most bytes that are read, and the finding says which setting raises it."""
    (tmp_path / "big").write_bytes(b"x" * 1001)
    (tmp_path / "fits").write_bytes(b"x" * 1000)
    sink = DiagnosticSink()
    assert load_text(tmp_path / "fits", "fits", LIMIT, sink) is not None
    assert load_text(tmp_path / "big", "big", LIMIT, sink) is None
    (only,) = sink.diagnostics
    assert (only.rule.code, only.message) == ("OCT102", "`big` has 1001 bytes, the limit is 1000")
    assert only.help is not None
    assert "max_file_bytes" in only.help


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    """A folder, a pipe without a writer and a missing file are each unreadable."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, reason in (("pipe", "not a regular file"), ("folder", "directory"), ("gone", "no such file")):
        sink = DiagnosticSink()
        assert load_text(tmp_path / name, name, LIMIT, sink) is None
        (only,) = sink.diagnostics
        assert only.rule.code == "OCT101"
        assert reason in only.message


def test_a_file_without_permission_is_unreadable(tmp_path: Path) -> None:
    """A file that may not be opened is reported with the system's reason."""
    path = tmp_path / "secret.toml"
    path.write_text("a = 1")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    sink = DiagnosticSink()
    assert load_text(path, "secret.toml", LIMIT, sink) is None
    assert found(sink) == [("OCT101", 0, 0, "`secret.toml` cannot be read: permission denied")]


def test_the_digest_is_of_the_bytes_on_disk(tmp_path: Path) -> None:
    """Two files of one text but different bytes have different digests."""
    (tmp_path / "lf").write_bytes(b"a\nb")
    (tmp_path / "crlf").write_bytes(b"a\r\nb")
    sink = DiagnosticSink()
    one, two = (load_text(tmp_path / name, name, LIMIT, sink) for name in ("lf", "crlf"))
    assert one is not None
    assert two is not None
    assert one.text == two.text
    assert one.digest != two.digest


def test_positions_get_the_text_that_values_came_from(tmp_path: Path) -> None:
    """The reader of texts for positions drops byte-order mark and CRLF too, and says None where there is no text."""
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbfa = 1\r\n")
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    read_text = text_reader(tmp_path)
    assert read_text("a.toml") == "a = 1\n"
    assert read_text("bad.toml") is None
    assert read_text("gone.toml") is None
