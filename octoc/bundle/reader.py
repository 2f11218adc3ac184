"""Opens a bundle: verifies what it is, maps it, and reads each part when it is first used.

Opening checks the length, every byte of the zip's framing and `bundle.json`. Any other member's digest is checked once,
before its first byte is used; `verify="full"` checks them all at once. Loads neither zipfile nor numpy.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

import attrs

from octoc.bundle.arrays import npy_view
from octoc.bundle.codec import decode
from octoc.bundle.digest import sha256_hex
from octoc.bundle.file import bundle_file
from octoc.bundle.layout import (
    BLOBS,
    END,
    END_MAGIC,
    FORMAT_NAME,
    FORMAT_REVISION,
    FORMAT_VERSION,
    INDEX,
    LOCAL,
    LOCAL_MAGIC,
    PARTS,
    BundleMember,
    Frame,
    directory_entries,
    frame,
)
from octoc.bundle.model import Bundle, Grant, Slice
from octoc.bundle.refusal import BundleError, BundleFileError
from octoc.bundle.registries import check_sets, in_full, stored
from octoc.diagnostics.rule import Rule
from octoc.diagnostics.rules.bundle import (
    BUNDLE_ALTERED,
    BUNDLE_CUT,
    BUNDLE_MALFORMED,
    BUNDLE_NEWER,
    NOT_A_BUNDLE,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octoc.bundle.offers import Offers

_REBUILD = "build it again with `octoc build`"
_COPY = "copy the file again, or build it again with `octoc build`"
_NAME_A_BUNDLE = "name a file that `octoc build` wrote"
_REPORT = "it was not written by a released octoc: build it again with `octoc build`"


@attrs.frozen(kw_only=True, eq=False)
class _MemberFacts:
    size: int
    crc32: int
    sha256: str


@attrs.frozen(kw_only=True, eq=False)
class _Format:
    name: str
    version: int
    revision: int


@attrs.frozen(kw_only=True, eq=False)
class _Index:
    """What the reader itself needs of `bundle.json`."""

    format: _Format
    members: Mapping[str, _MemberFacts]


class OpenBundle:
    """A bundle that was verified and mapped. Its methods may be called from several threads.

    Every method raises BundleFileError when the member that it needs is not what was built.
    """

    def __init__(self, file: str, data: memoryview, source: mmap.mmap | None) -> None:
        """Take a bundle's bytes. Use `open`, or `of_bytes` for a bundle in memory. Raises: BundleFileError."""
        self.file = file
        self.signed_revision: int | None = None
        """The revision in the signature that was verified; None if no trust is configured."""
        self._data = data
        self._source = source
        self._sound: set[str] = set()
        self._wires: dict[int, dict[str, Any]] = {}
        self._fields, self._members, self._starts = self._read_index()

    @classmethod
    def open(
        cls,
        path: str | Path,
        verify: Literal["lazy", "full"] = "lazy",
        *,
        in_memory: bool = False,
        trust: str | Path | None = None,
    ) -> OpenBundle:
        """Verify and map the bundle at `path`; with `in_memory` it is read, and the file not looked at any more.

        With `trust`, the path of a trust file, the file is read too, and its signature is verified before anything of
        the bundle is parsed. A file that gets shorter while it is mapped ends the process (SIGBUS).

        Raises: BundleFileError, with `trust` also its subclass UntrustedBundleError.
        """
        if trust is not None:
            from octoc.trust.check import read_verified  # few bundles are signed

            signed = read_verified(path, trust)
            opened = cls.of_bytes(signed.data, verify, str(path))
            signed.take(opened.bundle.name)
            opened.signed_revision = signed.statement.revision
            return opened
        mapped: mmap.mmap | None = None
        with bundle_file(path) as handle:
            try:
                # A file without bytes cannot be mapped, read or not: both end below.
                if not in_memory or not os.fstat(handle.fileno()).st_size:
                    mapped = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
                data = memoryview(handle.read() if mapped is None else mapped)
            except ValueError:  # mmap's word for a file of no bytes
                raise BundleFileError(BUNDLE_CUT, f"`{path}` is empty", _COPY, str(path)) from None
        return cls._checked(str(path), data, mapped, verify)

    @classmethod
    def of_bytes(cls, data: bytes, verify: Literal["lazy", "full"] = "full", file: str = "") -> OpenBundle:
        """Verify a bundle that is in memory, as one that was just built. Raises: BundleFileError."""
        return cls._checked(file, memoryview(data), None, verify)

    @classmethod
    def _checked(
        cls, file: str, data: memoryview, source: mmap.mmap | None, verify: Literal["lazy", "full"]
    ) -> OpenBundle:
        opened = cls(file, data, source)
        if verify == "full":
            for name in opened._members:
                opened._member(name)
            opened.bundle  # noqa: B018  # decodes every part
        return opened

    @cached_property
    def bundle(self) -> Bundle:
        """Everything but blobs, arrays and encoder files, decoded."""
        fields = _of_this_revision(self._fields)
        for part in PARTS:
            fields[part] = self._json(f"{part}.json", self._member(f"{part}.json"))
        try:
            bundle = _decoded(fields)
        except BundleError as error:
            self._refuse_malformed(str(error))
        self._check_references(bundle)
        return bundle

    @cached_property
    def offers(self) -> Offers:
        """What servers offer beside their tools, and what each agent may use."""
        from octoc.bundle.offers import OFFERS, Offers  # few bundles have any

        if OFFERS not in self._members:
            return Offers()
        try:
            offers = decode(Offers, self._json(OFFERS, self._member(OFFERS)))
            offers.check()
        except BundleError as error:
            self._refuse_malformed(f"`{OFFERS}`: {error}")
        return offers

    def tool_wire(self, index: int) -> dict[str, Any]:
        """Return tool number `index` in the protocol's wire form. The object is shared: do not change it."""
        wire = self._wires.get(index)
        if wire is None:
            entry = self.bundle.tools[index]
            found = self._json(f"tools.blob, tool {index}", self._slice("tools.blob", entry.wire))
            if not isinstance(found, dict):
                self._refuse_malformed(f"tool {index} is not an object")
            wire = self._wires[index] = found
        return wire

    def tool_bytes(self, index: int) -> bytes:
        """Return tool number `index` in the protocol's wire form, as canonical JSON."""
        return bytes(self._slice("tools.blob", self.bundle.tools[index].wire))

    def text(self, where: Slice) -> str:
        """Return a text of the bundle: a prompt, a skill's body."""
        try:
            return str(self._slice("texts.blob", where), "utf-8")
        except UnicodeDecodeError:
            self._refuse_malformed(f"the text at byte {where.offset} is not UTF-8")

    def data(self, where: Slice) -> bytes:
        """Return the bytes of a file that lies among the texts, as one of a `DepFolder`."""
        return bytes(self._slice("texts.blob", where))

    def array(self, name: str) -> NDArray[Any]:
        """Return `triggers`, `gate/<name>` or `search/<name>`, as a read-only view of the file.

        Raises: KeyError when there is none.
        """
        member = f"{name}.npy"
        if member not in self._members:
            raise KeyError(name)
        try:
            return npy_view(self._member(member))
        except BundleError as error:
            self._refuse_malformed(f"member `{member}`: {error}")

    def has_array(self, name: str) -> bool:
        """Tell whether the bundle has this array."""
        return f"{name}.npy" in self._members

    def arrays(self, folder: str) -> dict[str, NDArray[Any]]:
        """Return every array `folder/<name>` by its plain name, as `array` does; none are there for none."""
        names = [name for name in self._members if name.startswith(f"{folder}/") and name.endswith(".npy")]
        plain = (name.removesuffix(".npy") for name in names)
        return {name.removeprefix(f"{folder}/"): self.array(name) for name in plain}

    def encoder_files(self) -> dict[str, bytes]:
        """Return the encoder's files by plain name; empty when the bundle does not ship them."""
        names = [name for name in self._members if name.startswith("encoder/")]
        return {name.removeprefix("encoder/"): bytes(self._member(name)) for name in names}

    @cached_property
    def digest(self) -> str:
        """The sha256 of `bundle.json`, which has the digest of every other member: the bundle's identity."""
        return sha256_hex(self._raw(INDEX, self._size_of_index))

    @cached_property
    def file_digest(self) -> str:
        """The sha256 of the whole file, whose start `octoc build` prints."""
        return sha256_hex(self._data)

    @property
    def digests(self) -> Mapping[str, str]:
        """The sha256 of every member but `bundle.json`, by name, as `bundle.json` has them."""
        return {name: facts.sha256 for name, facts in self._members.items()}

    def close(self) -> None:
        """Let the file go. Arrays that are still in use keep the map alive until they are gone."""
        self._data.release()
        if self._source is not None:
            try:
                self._source.close()
            except BufferError:
                self._source = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read_index(self) -> tuple[dict[str, Any], Mapping[str, _MemberFacts], Mapping[str, int]]:
        start, own = self._find_index()
        raw = self._data[start : start + own.size]
        if len(raw) != own.size or zlib.crc32(raw) != own.crc32:
            self._refuse(BUNDLE_ALTERED, f"member `{INDEX}` is not what was built", _COPY)
        self._size_of_index = own.size
        fields = self._json(INDEX, raw)
        self._check_format(fields)
        try:
            index = decode(_Index, fields)
            plan = frame([own, *(BundleMember(name, facts.size, facts.crc32) for name, facts in index.members.items())])
        except (BundleError, ValueError, struct.error) as error:
            self._refuse_malformed(f"`{INDEX}`: {error}")
        self._check_frame(plan)
        self._check_names(index)
        return fields, index.members, plan.starts

    def _find_index(self) -> tuple[int, BundleMember]:
        """Return where `bundle.json` starts, and what the zip says of it."""
        data = self._data
        if bytes(data[:4]) != LOCAL_MAGIC[: len(data)]:
            self._refuse(NOT_A_BUNDLE, "it does not begin as a bundle does", _NAME_A_BUNDLE)
        end = len(data) - END.size
        if end < 0 or bytes(data[end : end + 4]) != END_MAGIC:
            self._refuse_end()
        _, _, _, _, count, size, offset, _ = END.unpack_from(data, end)
        if offset + size != end:
            self._refuse(BUNDLE_ALTERED, "its directory of members is not where its end says", _COPY)
        try:
            for member, at in directory_entries(bytes(data[offset:end]), count):
                if member.name == INDEX:
                    fields = LOCAL.unpack_from(data, at)
                    return at + LOCAL.size + fields[9] + fields[10], member
        except (ValueError, struct.error):
            self._refuse(BUNDLE_ALTERED, "its directory of members is damaged", _COPY)
        return self._refuse(NOT_A_BUNDLE, f"it is a zip without a member `{INDEX}`", _NAME_A_BUNDLE)

    def _refuse_end(self) -> NoReturn:
        found = bytes(self._data[-(1 << 16) :]).rfind(END_MAGIC)
        behind = min(len(self._data), 1 << 16) - found - END.size
        if found >= 0 and behind > 0:
            self._refuse(
                BUNDLE_ALTERED, f"there {'is 1 byte' if behind == 1 else f'are {behind} bytes'} after its end", _COPY
            )
        self._refuse(BUNDLE_CUT, f"it is cut short: {len(self._data)} bytes, and no end", _COPY)

    def _check_format(self, fields: Any) -> None:
        try:
            form = decode(_Format, fields.get("format") if isinstance(fields, dict) else None)
        except BundleError:
            self._refuse(NOT_A_BUNDLE, f"its `{INDEX}` names no format", _NAME_A_BUNDLE)
        if form.name != FORMAT_NAME:
            self._refuse(NOT_A_BUNDLE, f"its format is `{form.name}`, not `{FORMAT_NAME}`", _REBUILD)
        if form.version > FORMAT_VERSION:
            reason = f"it was built by a newer octoc: format {form.version}, this one reads {FORMAT_VERSION}"
            self._refuse(BUNDLE_NEWER, reason, "upgrade octoc, or build the bundle again with this one")
        if form.version < 1:
            self._refuse_malformed(f"format {form.version} does not exist: the first is 1")

    def _check_frame(self, plan: Frame) -> None:
        if len(self._data) != plan.size:
            reason = f"it has {len(self._data)} bytes, and its members make {plan.size}"
            self._refuse(BUNDLE_CUT if len(self._data) < plan.size else BUNDLE_ALTERED, reason, _COPY)
        for offset, piece in plan.pieces:
            if self._data[offset : offset + len(piece)] != piece:
                self._refuse(BUNDLE_ALTERED, f"bytes between its members were changed, near byte {offset}", _COPY)

    def _check_names(self, index: _Index) -> None:
        needed = {*(f"{part}.json" for part in PARTS), *(f"{name}.blob" for name in BLOBS)}
        for name in sorted(needed - index.members.keys()):
            self._refuse_malformed(f"member `{name}` is missing")
        if index.format.revision > FORMAT_REVISION:
            return  # a later revision may have more
        for name in sorted(index.members.keys() - needed):
            is_array = name == "triggers.npy" or (
                name.startswith(("gate/", "search/", "skills/")) and name.endswith(".npy")
            )
            if not is_array and not name.startswith("encoder/") and name != "offers.json":
                self._refuse_malformed(f"member `{name}` is not part of the format")

    def _check_references(self, bundle: Bundle) -> None:
        """Refuse a bundle that points at tools or members which are not there, so that no user of it has to look."""
        needed = [f"gate/{name}.npy" for name in (bundle.gate.arrays if bundle.gate else ())]
        needed += [f"encoder/{name}" for name in (bundle.encoder.files if bundle.encoder else ())]
        if any(capability.rows != (0, 0) for capability in bundle.capabilities):
            needed.append("triggers.npy")
        for name in needed:
            if name not in self._members:
                self._refuse_malformed(f"member `{name}` is missing")
        self._check_tools("what is contested", bundle, bundle.contested)
        for grants in (*bundle.grant_sets, *(group.grants for group in bundle.tool_groups)):
            self._check_tools("a registry", bundle, *_tools_of(grants))
        for agent in bundle.agents:
            # What is made of sets was checked with these.
            tools, direct, unlisted, shown = (
                in_full(agent.registry, name) for name in ("tools", "direct", "unlisted", "unlisted_direct")
            )
            self._check_tools(f"agent `{agent.name}`", bundle, tools, direct, *_tools_of((*unlisted, *shown)))
        for capability in bundle.capabilities:
            self._check_tools(f"capability `{capability.name}`", bundle, *_tools_of(capability.grants))

    def _check_tools(self, whose: str, bundle: Bundle, *lists: tuple[int, ...]) -> None:
        count = len(bundle.tools)
        for numbers in lists:
            if numbers and not (min(numbers) >= 0 and max(numbers) < count):
                self._refuse_malformed(f"{whose} has a tool outside the bundle's {count}")

    def _raw(self, name: str, size: int) -> memoryview:
        start = self._starts[name]
        return self._data[start : start + size]

    def _member(self, name: str) -> memoryview:
        facts = self._members[name]
        data = self._raw(name, facts.size)
        if name not in self._sound:
            if sha256_hex(data) != facts.sha256:
                self._refuse(BUNDLE_ALTERED, f"member `{name}` is not what was built", _COPY)
            self._sound.add(name)
        return data

    def _slice(self, name: str, where: Slice) -> memoryview:
        data = self._member(name)
        if where.offset < 0 or where.length < 0 or where.offset + where.length > len(data):
            self._refuse_malformed(f"bytes {where.offset}+{where.length} are outside `{name}`, which has {len(data)}")
        return data[where.offset : where.offset + where.length]

    def _json(self, what: str, data: memoryview) -> Any:
        try:
            return json.loads(str(data, "utf-8"))
        except (ValueError, RecursionError) as error:
            self._refuse_malformed(f"`{what}` is not JSON: {error}")

    def _refuse(self, rule: Rule, reason: str, next_step: str) -> NoReturn:
        where = f"`{self.file}`: " if self.file else ""
        raise BundleFileError(rule, f"{where}{reason}", next_step, self.file)

    def _refuse_malformed(self, reason: str) -> NoReturn:
        self._refuse(BUNDLE_MALFORMED, reason, _REPORT)


def _decoded(fields: dict[str, Any]) -> Bundle:
    """Return the bundle; its registries are put together when they are used. Raises: BundleError."""
    agents = fields["agents"]
    apart = isinstance(agents, list) and all(isinstance(agent, dict) for agent in agents)
    registries = [agent.pop("registry", {}) for agent in agents] if apart else []
    bundle = decode(Bundle, fields)
    check_sets(bundle)
    found = []
    for number, (agent, registry) in enumerate(zip(bundle.agents, registries, strict=True)):
        try:
            found.append(attrs.evolve(agent, registry=stored(bundle, registry)))
        except BundleError as error:
            raise error.under("registry").under(number).under("agents") from None
    return attrs.evolve(bundle, agents=tuple(found))


def _of_this_revision(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `bundle.json` of an older revision says in the words of this one."""
    settings, revision = fields.get("settings", {}), fields["format"].get("revision", 0)
    if not isinstance(settings, dict):
        return dict(fields)
    if "pinned" in settings and revision < 5:
        settings = {**settings, "kept": settings["pinned"]}
    if revision >= 1:
        return {**fields, "settings": settings}
    # Revision 0 knew two profiles, and left out the one that was its default.
    results = {"profile": settings.get("results_profile", "octo"), "max_chars": settings.get("max_chars", 40000)}
    return {**fields, "settings": {**settings, "results": results}}


def _tools_of(grants: tuple[Grant, ...]) -> list[tuple[int, ...]]:
    return [grant.tools for grant in grants]
