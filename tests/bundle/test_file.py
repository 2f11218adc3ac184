"""The bundle as a file: what is written opens, whatever else is refused with a reason."""

import io
import json
import os
import re
import stat
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.bundle.codec import encode
from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.layout import ALIGNMENT, INDEX, BundleMember, frame
from octoc.bundle.model import (
    AgentEntry,
    Bundle,
    CapabilityEntry,
    Encoder,
    Gate,
    Grant,
    Registry,
    ResultSettings,
    Settings,
    Slice,
    ToolEntry,
)
from octoc.bundle.reader import OpenBundle
from octoc.bundle.refusal import BundleFileError
from octoc.bundle.writer import BlobBuilder, write_bundle

WIRE = {"name": "t", "description": "Does it", "inputSchema": {"type": "object"}}
TRIGGERS = np.arange(6, dtype=np.float32).reshape(2, 3)


def _built() -> bytes:
    tools, texts = BlobBuilder(), BlobBuilder()
    tools.add(b'{"name":"other"}')
    bundle = Bundle(
        name="acme",
        octoc_version="0.1.0",
        settings=Settings(max_active=2),
        tools=(
            ToolEntry(server="a", name="t", alias="a__t", description="Does it", wire=tools.add(canonical_json(WIRE))),
        ),
        capabilities=(CapabilityEntry(name="c", provider="p", triggers=("one", "two"), rows=(0, 2)),),
        agents=(
            AgentEntry(name="supervisor", kind="octo", prompt=texts.add_text("Grüß Gott"), welcome=texts.add_text("")),
        ),
        encoder=Encoder(name="e", identity="i", dimension=3, files=("vocab.txt",)),
        gate=Gate(kind="calibrated", threshold=0.5, arrays=("weights",)),
    )
    return write_bundle(
        bundle,
        blobs={"tools": tools.data, "texts": texts.data},
        arrays={"triggers": TRIGGERS, "gate/weights": np.array([[1, 2]], dtype=np.int64)},
        encoder_files={"vocab.txt": b"a\nb\n"},
    )


BUILT = _built()


def test_everything_that_was_written_is_read(tmp_path: Path) -> None:
    """Texts, wire objects, arrays and encoder files come back from the file as they went in."""
    path = tmp_path / "acme.octoc"
    path.write_bytes(BUILT)
    with OpenBundle.open(path, verify="full") as opened:
        assert opened.bundle.name == "acme"
        assert opened.tool_wire(0) == WIRE
        assert opened.tool_wire(0) is opened.tool_wire(0)
        agent = opened.bundle.agents[0]
        assert (opened.text(agent.prompt), opened.text(agent.welcome)) == ("Grüß Gott", "")
        assert np.array_equal(opened.array("triggers"), TRIGGERS)
        assert opened.array("gate/weights").tolist() == [[1, 2]]
        assert opened.encoder_files() == {"vocab.txt": b"a\nb\n"}
        assert opened.has_array("triggers")
        assert not opened.has_array("gate/none")


def test_arrays_are_mapped_aligned_and_outlive_the_bundle(tmp_path: Path) -> None:
    """An array is a read-only view of the map, 64-byte aligned in the file, and still there after `close`."""
    path = tmp_path / "acme.octoc"
    path.write_bytes(BUILT)
    opened = OpenBundle.open(path)
    triggers = opened.array("triggers")
    opened.close()
    assert not triggers.flags.owndata
    assert not triggers.flags.writeable
    assert triggers.ctypes.data % ALIGNMENT == 0
    assert np.array_equal(triggers, TRIGGERS)


def test_the_file_is_a_plain_zip() -> None:
    """Any zip tool reads the file: sorted UTF-8 names, stored, the year 1980, mode 0644, sound checksums."""
    with zipfile.ZipFile(io.BytesIO(BUILT)) as archive:
        assert archive.testzip() is None
        infos = archive.infolist()
        assert [info.filename for info in infos] == sorted(info.filename for info in infos)
        assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}
        assert {stat.S_IMODE(info.external_attr >> 16) for info in infos} == {0o644}
        assert json.loads(archive.read("tools.json"))[0]["alias"] == "a__t"


def test_the_same_bundle_is_the_same_bytes() -> None:
    """Writing twice gives equal bytes."""
    assert _built() == BUILT


def _use_all(opened: OpenBundle) -> None:
    for index in range(len(opened.bundle.tools)):
        opened.tool_wire(index)
    for agent in opened.bundle.agents:
        opened.text(agent.prompt)
    opened.array("triggers")
    opened.array("gate/weights")
    opened.encoder_files()


@given(st.integers(0, len(BUILT) - 1), st.integers(1, 255))
def test_any_altered_byte_is_refused(at: int, change: int) -> None:
    """One changed byte, wherever it is: refused on a full check, and on a lazy one before its member is used."""
    altered = bytearray(BUILT)
    altered[at] ^= change
    with pytest.raises(BundleFileError):
        OpenBundle.of_bytes(bytes(altered), verify="full")
    with pytest.raises(BundleFileError):
        _use_all(OpenBundle.of_bytes(bytes(altered), verify="lazy"))


@given(st.integers(0, len(BUILT) - 1))
def test_any_truncation_is_refused_when_opened(length: int) -> None:
    """A file that ends early is refused at once, also on a lazy check."""
    with pytest.raises(BundleFileError):
        OpenBundle.of_bytes(BUILT[:length], verify="lazy")


@given(st.integers(0, len(BUILT)), st.binary(min_size=1, max_size=100))
def test_inserted_bytes_are_refused_when_opened(at: int, extra: bytes) -> None:
    """Bytes added anywhere, also after the end, make the bundle refused."""
    longer = BUILT[:at] + extra + BUILT[at:]
    with pytest.raises(BundleFileError):
        _use_all(OpenBundle.of_bytes(longer, verify="lazy"))


@given(st.binary(max_size=200))
def test_no_other_bytes_are_a_bundle(data: bytes) -> None:
    """Random bytes are refused, and nothing else is raised."""
    with pytest.raises(BundleFileError):
        OpenBundle.of_bytes(data)
    with pytest.raises(BundleFileError):
        OpenBundle.of_bytes(b"PK\x03\x04" + data + BUILT[-22:])


def test_a_lazy_check_leaves_members_that_are_not_used() -> None:
    """A damaged encoder does not keep the tools from being used; it is refused when it is asked for."""
    altered = BUILT.replace(b"a\nb\n", b"a\nc\n")
    opened = OpenBundle.of_bytes(altered, verify="lazy")
    assert opened.tool_wire(0) == WIRE
    with pytest.raises(BundleFileError, match=r"member `encoder/vocab\.txt` is not what was built") as caught:
        opened.encoder_files()
    assert caught.value.rule.code == "OCT604"


def _reindexed(**changes: object) -> bytes:
    """Return the bundle with other values in `bundle.json`, its framing made to fit."""
    with zipfile.ZipFile(io.BytesIO(BUILT)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[INDEX] = canonical_json({**json.loads(members[INDEX]), **changes})
    return _framed(members)


def _framed(members: dict[str, bytes]) -> bytes:
    plan = frame([BundleMember(name, len(data), zlib.crc32(data)) for name, data in members.items()])
    out = bytearray(plan.size)
    for offset, piece in plan.pieces:
        out[offset : offset + len(piece)] = piece
    for name, start in plan.starts.items():
        out[start : start + len(members[name])] = members[name]
    return bytes(out)


def test_a_newer_format_is_refused_and_a_newer_revision_is_not() -> None:
    """The version says what cannot be read, the revision only what may be passed over."""
    newer = _reindexed(format={"name": "octoc-bundle", "version": 3, "revision": 0})
    with pytest.raises(BundleFileError, match="built by a newer octoc: format 3, this one reads 2") as caught:
        OpenBundle.of_bytes(newer)
    assert caught.value.rule.code == "OCT605"
    assert "upgrade" in caught.value.help
    revised = _reindexed(format={"name": "octoc-bundle", "version": 2, "revision": 7}, later=True)
    assert OpenBundle.of_bytes(revised).bundle.name == "acme"


def test_kept_capabilities_of_an_older_revision() -> None:
    """Before revision 5 the setting was called `pinned`."""
    older = _reindexed(
        format={"name": "octoc-bundle", "version": 2, "revision": 4}, settings={"max_active": 2, "pinned": ["memory"]}
    )
    settings = OpenBundle.of_bytes(older).bundle.settings
    assert (settings.max_active, settings.kept) == (2, ("memory",))


@pytest.mark.parametrize(
    "data,code,reason",
    [
        (b"", "OCT603", "cut short"),
        (b"hello", "OCT602", "does not begin as a bundle does"),
        (BUILT[:1000], "OCT603", "cut short: 1000 bytes"),
        (BUILT + b"more", "OCT604", "4 bytes after its end"),
        (_framed({"a": b"b"}), "OCT602", "without a member `bundle.json`"),
        (_framed({INDEX: b"[]"}), "OCT602", "names no format"),
        (_framed({INDEX: b"{"}), "OCT606", "not JSON"),
        (_framed({INDEX: b"[" * 100_000}), "OCT606", "not JSON"),
        (_reindexed(format={"name": "zip", "version": 1, "revision": 0}), "OCT602", "its format is `zip`"),
        (_reindexed(format={"name": "octoc-bundle", "version": 0, "revision": 0}), "OCT606", "the first is 1"),
        (_reindexed(members={}), "OCT604", "its members make"),
        (_reindexed(settings=[]), "OCT606", "`settings`: expected an object, found an array"),
        (_reindexed(members={"x": {"size": -1, "crc32": 0, "sha256": ""}}), "OCT606", "bundle.json"),
    ],
)
def test_each_refusal_names_its_rule_and_reason(data: bytes, code: str, reason: str) -> None:
    """A refusal has the code, a reason in words and a next step, and becomes a diagnostic."""
    with pytest.raises(BundleFileError, match=re.escape(reason)) as caught:
        OpenBundle.of_bytes(data, file="acme.octoc")
    found = caught.value.diagnostic()
    assert found.rule.code.startswith(code)
    assert found.help
    assert found.span is not None
    assert found.span.file == "acme.octoc"


@pytest.mark.parametrize("in_memory", [False, True])
def test_missing_files_and_folders_are_refused(tmp_path: Path, *, in_memory: bool) -> None:
    """No file, an empty file, a folder and a pipe are refused as any other."""
    with pytest.raises(BundleFileError, match="there is no bundle at"):
        OpenBundle.open(tmp_path / "none.octoc", in_memory=in_memory)
    with pytest.raises(BundleFileError, match="cannot be read: Is a directory"):
        OpenBundle.open(tmp_path, in_memory=in_memory)
    (tmp_path / "empty.octoc").touch()
    with pytest.raises(BundleFileError, match="is empty"):
        OpenBundle.open(tmp_path / "empty.octoc", in_memory=in_memory)
    os.mkfifo(tmp_path / "pipe.octoc")
    with pytest.raises(BundleFileError, match="is not a regular file"):
        OpenBundle.open(tmp_path / "pipe.octoc", in_memory=in_memory)


def test_members_must_be_those_of_the_format() -> None:
    """A bundle without a member that it needs, or with a foreign one, is refused even when its framing is sound."""
    with zipfile.ZipFile(io.BytesIO(BUILT)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for change, reason in (
        ({"run.sh": b"true"}, "`run.sh` is not part of"),
        ({"tools.blob": None}, "`tools.blob` is missing"),
    ):
        kept = {name: data for name, data in {**members, **change}.items() if data is not None and name != INDEX}
        index = json.loads(members[INDEX])
        index["members"] = {
            name: {"size": len(data), "crc32": zlib.crc32(data), "sha256": sha256_hex(data)}
            for name, data in kept.items()
        }
        with pytest.raises(BundleFileError, match=reason):
            OpenBundle.of_bytes(_framed({**kept, INDEX: canonical_json(index)}))


def test_slices_outside_their_blob_are_refused() -> None:
    """A bundle whose index points outside a blob is malformed, not a short read."""
    tool = ToolEntry(server="a", name="t", alias="a__t", description="", wire=Slice(0, 99))
    bundle = Bundle(name="acme", octoc_version="0.1.0", settings=Settings(), tools=(tool,))
    opened = OpenBundle.of_bytes(write_bundle(bundle, blobs={"tools": b"{}", "texts": b"\xff"}))
    with pytest.raises(BundleFileError, match=r"outside `tools\.blob`"):
        opened.tool_wire(0)
    with pytest.raises(BundleFileError, match="not UTF-8"):
        opened.text(Slice(0, 1))


@pytest.mark.parametrize(
    "change,reason",
    [
        ({"agents": (AgentEntry(name="a", kind="octo", registry=Registry(tools=(0, 1))),)}, "outside the bundle's 1"),
        (
            {"agents": (AgentEntry(name="a", kind="octo", registry=Registry(direct=(-1,))),)},
            "tools to skip and to take",
        ),
        ({"agents": (AgentEntry(name="a", kind="octo", registry=Registry(tools=(7, 0))),)}, "agent `a` has a tool"),
        (
            {
                "agents": (
                    AgentEntry(
                        name="a", kind="octo", registry=Registry(unlisted=(Grant(server="a", globs=(), tools=(7,)),))
                    ),
                )
            },
            "a registry has a tool",
        ),
        (
            {
                "capabilities": (
                    CapabilityEntry(name="c", provider="p", grants=(Grant(server="a", globs=(), tools=(7,)),)),
                )
            },
            "capability `c` has a tool",
        ),
        ({"capabilities": (CapabilityEntry(name="c", provider="p", rows=(0, 1)),)}, "`triggers.npy` is missing"),
        ({"gate": Gate(kind="calibrated", threshold=0.5, arrays=("w",))}, "`gate/w.npy` is missing"),
        ({"encoder": Encoder(name="e", identity="i", dimension=1, files=("f",))}, "`encoder/f` is missing"),
    ],
)
def test_a_bundle_that_points_at_nothing_is_refused(change: dict[str, Any], reason: str) -> None:
    """Tools and members that an entry names must be there."""
    tool = ToolEntry(server="a", name="t", alias="a__t", description="", wire=Slice(0, 2))
    bundle = Bundle(name="acme", octoc_version="0.1.0", settings=Settings(), tools=(tool,), **change)
    data = write_bundle(bundle, blobs={"tools": b"{}", "texts": b""})
    with pytest.raises(BundleFileError, match=re.escape(reason)) as caught:
        OpenBundle.of_bytes(data)
    assert caught.value.rule.code == "OCT606"


@pytest.mark.parametrize(
    "array",
    [np.zeros((0, 384), np.float32), np.float64(3.5), np.asfortranarray(np.ones((2, 3))), np.array([1], dtype=">i4")],
    ids=["empty", "scalar", "column-major", "big-endian"],
)
def test_arrays_of_any_layout_are_written_plainly(array: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]") -> None:
    """Empty, scalar, column-major and big-endian arrays come back equal, little-endian and row by row."""
    bundle = Bundle(name="acme", octoc_version="0.1.0", settings=Settings())
    data = write_bundle(bundle, blobs={"tools": b"", "texts": b""}, arrays={"triggers": array})
    found = OpenBundle.of_bytes(data).array("triggers")
    assert found.shape == np.shape(array)
    assert np.array_equal(found, array)
    assert found.dtype.byteorder in "=<|"


def test_objects_are_no_arrays() -> None:
    """An array of Python objects, which only pickle could hold, is not written."""
    bundle = Bundle(name="acme", octoc_version="0.1.0", settings=Settings())
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_bundle(bundle, blobs={"tools": b"", "texts": b""}, arrays={"triggers": np.array([{}])})


def test_opening_loads_no_heavy_module(tmp_path: Path) -> None:
    """A fresh process that opens a bundle and reads a tool has loaded neither zipfile nor numpy nor cattrs."""
    path = tmp_path / "acme.octoc"
    path.write_bytes(BUILT)
    program = (
        "import sys; from octoc.bundle.reader import OpenBundle; b = OpenBundle.open(sys.argv[1]); b.tool_wire(0);"
        "print([m for m in ('zipfile', 'numpy', 'cattrs', 'importlib.metadata') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


V1 = Path(__file__).resolve().parents[1] / "bundles" / "v1" / "acme.octoc"


def test_the_first_format_loads_for_ever() -> None:
    """The committed bundle of format 1 opens with all that it held when it was made."""
    with OpenBundle.open(V1, verify="full") as opened:
        assert opened.bundle.name == "acme"
        assert opened.bundle.settings.max_active == 2
        # Revision 0 had another default profile, which it left out.
        assert opened.bundle.settings.results == ResultSettings(profile="octo")
        assert opened.tool_wire(0) == WIRE
        assert opened.text(opened.bundle.agents[0].prompt) == "Grüß Gott"
        assert np.array_equal(opened.array("triggers"), TRIGGERS)
        assert opened.encoder_files() == {"vocab.txt": b"a\nb\n"}
        assert encode(opened.bundle)["gate"] == {"kind": "calibrated", "threshold": 0.5, "arrays": ["weights"]}


def test_a_zip_of_someone_else_is_refused(tmp_path: Path) -> None:
    """An ordinary zip file with a `bundle.json` inside is not a bundle."""
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(INDEX, BUILT[struct.calcsize("<4s5H3I2H") :][:10])
    with pytest.raises(BundleFileError):
        OpenBundle.open(path)
