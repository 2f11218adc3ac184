"""The bundle as one file: an uncompressed zip whose every byte outside the members' data follows from their sizes.

Members are sorted by name, timestamps and attributes fixed, and each member's data starts at a multiple of 64 bytes, so
that an array can be used where it is mapped. Names, sizes and checksums determine the framing, so the reader makes it
again and compares: there is no byte in which something could hide.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping

import attrs

FORMAT_NAME = "octoc-bundle"
FORMAT_VERSION = 2
"""Refused by a reader of a lower version; lower ones are read.

2: registries are made of sets, and agents may be for some tenants alone: what a reader of 1 would take for none, and
for all tenants.
"""
FORMAT_REVISION = 5
"""Compatible: fields and members that an older reader may pass over. Counts on from version to version.

1: policies of servers and tools, more of results, dependencies; `Settings.results` instead of two fields of its own.
2: the search index; skills of agents, their `validate` scripts, and the phrases of their rules.
3: tenants, areas, quotas, and settings of agents.
4: which aliases are longer because of other tools.
5: the way to the workspace, the folders that scripts of dependencies use, what agents may not have of servers
   without a snapshot, the capabilities that only the host activates, what servers may ask their callers,
   `Settings.kept`, which was `pinned`, tool groups, how far servers may differ from their pins, and the member
   `offers.json`, the identity providers of `octoc serve`, and further evidence of gates.
"""

ALIGNMENT = 64
INDEX = "bundle.json"
PARTS = ("servers", "tools", "capabilities", "skills", "agents")
"""Fields of `Bundle` that are members of their own, `<field>.json`."""
BLOBS = ("tools", "texts")
"""Members `<name>.blob`: canonical JSON wire objects of tools, and UTF-8 texts."""

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
LOCAL_MAGIC, CENTRAL_MAGIC, END_MAGIC = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"

_EXTRA = struct.Struct("<3H")
_EXTRA_ID = 0xD935  # the field that Android's zipalign pads with: its data is the alignment, then zeros
_VERSION_NEEDED = 20
_MADE_BY = 3 << 8 | _VERSION_NEEDED  # Unix
_UTF8_NAME = 0x0800
_STORED = 0
_DATE, _TIME = 1 << 5 | 1, 0  # 1980-01-01 00:00, the first that a zip can say
_MODE = 0o100644 << 16
_MAX_SIZE = 2**32 - 2  # no zip64
_MAX_MEMBERS = 2**16 - 2


def depends_on_cpu(name: str) -> bool:
    """Tell whether a member may have other bytes on another kind of CPU: vectors, what is fitted to them, encoders."""
    return name.endswith(".npy") or name.startswith("encoder/")


@attrs.frozen(eq=False)
class BundleMember:
    """One member: its name, its size in bytes and the CRC-32 that zip wants."""

    name: str
    size: int
    crc32: int


@attrs.frozen(eq=False)
class Frame:
    """Where everything is: `pieces` are the framing's bytes by offset, `starts` where each member's data begins."""

    pieces: tuple[tuple[int, bytes], ...]
    starts: Mapping[str, int]
    size: int


def frame(members: Iterable[BundleMember]) -> Frame:
    """Return the framing of a file with these members.

    Raises: ValueError when they need more than a plain zip can hold: 4 GiB, or 65534 members.
    """
    ordered = sorted(members, key=lambda member: member.name.encode())
    pieces: list[tuple[int, bytes]] = []
    starts: dict[str, int] = {}
    directory: list[bytes] = []
    offset = 0
    for member in ordered:
        name = member.name.encode()
        facts = (member.crc32, member.size, member.size, len(name))
        common = (_VERSION_NEEDED, _UTF8_NAME, _STORED, _TIME, _DATE)
        bare = offset + LOCAL.size + len(name) + _EXTRA.size
        padding = -bare % ALIGNMENT
        if bare + padding + member.size > _MAX_SIZE:
            raise ValueError("a bundle can hold 4 GiB at most")
        extra = _EXTRA.pack(_EXTRA_ID, 2 + padding, ALIGNMENT) + bytes(padding)
        pieces.append((offset, LOCAL.pack(LOCAL_MAGIC, *common, *facts, len(extra)) + name + extra))
        directory.append(CENTRAL.pack(CENTRAL_MAGIC, _MADE_BY, *common, *facts, 0, 0, 0, 0, _MODE, offset) + name)
        starts[member.name] = bare + padding
        offset = bare + padding + member.size
    listing = b"".join(directory)
    if len(directory) > _MAX_MEMBERS or offset + len(listing) > _MAX_SIZE:
        raise ValueError("a bundle can hold 4 GiB and 65534 members at most")
    end = END.pack(END_MAGIC, 0, 0, len(directory), len(directory), len(listing), offset, 0)
    pieces.append((offset, listing + end))
    return Frame(tuple(pieces), starts, offset + len(listing) + len(end))


def directory_entries(data: bytes, count: int) -> Iterator[tuple[BundleMember, int]]:
    """Yield each member that a central directory names, with the offset of its local header.

    Raises: ValueError when `data` is not `count` entries and nothing else; struct.error where it ends too early.
    """
    at = 0
    for _ in range(count):
        magic, *_rest = fields = CENTRAL.unpack_from(data, at)
        crc, size, name_size, extra_size, comment_size = fields[7], fields[9], *fields[10:13]
        if magic != CENTRAL_MAGIC or extra_size or comment_size:
            raise ValueError("an entry of the directory is damaged")
        at += CENTRAL.size
        yield BundleMember(data[at : at + name_size].decode(), size, crc), fields[16]
        at += name_size
    if at != len(data):
        raise ValueError("the directory is damaged")
