"""Bundles that are cut, altered, newer or none: each command refuses with a reason and exit status 1."""

import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from octoc.bundle.layout import FORMAT_VERSION, BundleMember, frame
from octoc.bundle.refusal import BundleFileError
from octoc.runtime import Runtime

from .conftest import Octoc

COMMANDS = (["show", "--json"], ["route", "tell the time"], ["find", "read"], ["call", "time", "time_read", "{}"])
Damage = Callable[[bytes], bytes]
FAULTS: dict[str, Damage] = {
    "empty": lambda _: b"",
    "text": lambda _: b"hello\n" * 100,
    "binary": lambda _: bytes(range(256)) * 64,
    "first half": lambda data: data[: len(data) // 2],
    "last byte gone": lambda data: data[:-1],
    "second half": lambda data: data[len(data) // 2 :],
    "one byte more": lambda data: data + b"\0",
    "first byte changed": lambda data: b"X" + data[1:],
    "last byte changed": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_bundle_is_refused(octoc: Octoc, sound: Path, tmp_path: Path, command: list[str], fault: str) -> None:
    """The reason is a diagnostic of the bundle's own range, and nothing goes to stdout."""
    path = tmp_path / "x.octoc"
    path.write_bytes(FAULTS[fault]((sound / "dist/acme.octoc").read_bytes()))
    done = octoc(*command, "--bundle", str(path))
    assert done.status == 1
    assert "error[OCT60" in done.err
    assert done.out == ""


def test_a_byte_changed_in_any_member_is_seen(octoc: Octoc, sound: Path, tmp_path: Path) -> None:
    """Each member is verified before its first use, and all of them by `verify="full"`."""
    data = (sound / "dist/acme.octoc").read_bytes()
    with zipfile.ZipFile(sound / "dist/acme.octoc") as bundle:
        members = bundle.infolist()
    refusing: dict[str, int] = {}
    path = tmp_path / "x.octoc"
    for member in members:
        header = member.header_offset
        start = header + 30 + int.from_bytes(data[header + 26 : header + 28], "little")
        at = start + int.from_bytes(data[header + 28 : header + 30], "little") + member.file_size // 2
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
        with pytest.raises(BundleFileError):
            Runtime.open(path, verify="full")
        ended = [octoc(*command, "--bundle", str(path)) for command in COMMANDS[:3]]
        assert all(done.status == 0 or "error[OCT60" in done.err for done in ended), member.filename
        refusing[member.filename] = sum(done.status for done in ended)
    assert refusing["bundle.json"] == 3
    assert all(refusing[name] for name in ("agents.json", "capabilities.json", "servers.json", "triggers.npy")), (
        refusing
    )


@pytest.mark.parametrize("make", [Path.mkdir, lambda _: None, lambda path: path.symlink_to(path.name)])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_path_without_a_regular_file_is_refused(
    octoc: Octoc, tmp_path: Path, command: list[str], make: Callable[[Path], None]
) -> None:
    """A folder, a missing file and a link loop are refused with a bundle rule and exit status 1."""
    make(tmp_path / "x.octoc")
    done = octoc(*command, "--bundle", str(tmp_path / "x.octoc"))
    assert done.status == 1
    assert "error[OCT60" in done.err


def test_a_newer_format_is_refused_as_newer(octoc: Octoc, sound: Path, tmp_path: Path) -> None:
    """A bundle of a later octoc says that octoc is to be upgraded, and is not called damaged."""
    with zipfile.ZipFile(sound / "dist/acme.octoc") as bundle:
        members = {name: bundle.read(name) for name in bundle.namelist()}
    written = b'"version":%d}' % FORMAT_VERSION
    assert members["bundle.json"].count(written) == 1
    members["bundle.json"] = members["bundle.json"].replace(written, b'"version":%d}' % (FORMAT_VERSION + 1))
    path = tmp_path / "x.octoc"
    plan = frame([BundleMember(name, len(data), zlib.crc32(data)) for name, data in members.items()])
    out = bytearray(plan.size)
    pieces = [*plan.pieces, *((start, members[name]) for name, start in plan.starts.items())]
    for offset, piece in pieces:
        out[offset : offset + len(piece)] = piece
    path.write_bytes(out)
    done = octoc("show", "--bundle", str(path))
    assert done.status == 1
    assert "error[OCT605]" in done.err
