"""The text of `octoc.lock`: plain TOML, sorted. Written by a few lines of our own: it has a thousand digests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any

from octoc.bundle.codec import decode, encode
from octoc.bundle.refusal import BundleError
from octoc.compiler.lock.content import REVISION, TOOL_PIN_PARTS, VERSION, LockContent
from octoc.compiler.read.toml import read_toml
from octoc.diagnostics.model import DiagnosticSink, Place

HEADER = """\
# Written by `octoc build`; commit it, and review what changes in it.
# Digests are sha256 of what the build reads. A tool has five: one covers all that its server lists, and the first
# 16 digits of its description's, input schema's, output schema's and annotations'.
"""


class NewerLockError(Exception):  # the state of a file, not a fault in the program
    """The lock's version is above the one that this octoc reads."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


def text_of(content: LockContent) -> str:
    """Return the lock as TOML: the same content is the same text."""
    plain = {**encode(content), "version": content.version, "revision": content.revision}
    return HEADER + "".join(_table((), plain))


def parse(text: str) -> LockContent:
    """Return what a lock says; keys of a newer revision are passed over.

    Raises: NewerLockError for a newer version; BundleError, with the place if it is known, when it is not a lock.
    """
    sink = DiagnosticSink()
    plain = read_toml(text, Place(file="octoc.lock"), sink)
    if plain is None:
        found = sink.diagnostics[0]
        where = f", at line {found.span.line}" if found.span is not None and found.span.line else ""
        raise BundleError(f"{found.message}{where}")
    version = plain.get("version")
    if type(version) is not int or version < 1:
        raise BundleError("expected `version`, a whole number from 1", ("version",))
    if version > VERSION:
        raise NewerLockError(version)
    return decode(LockContent, _with_all_parts(plain))


def _with_all_parts(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a lock of an older revision, whose tools have fewer digests, with empty ones for the others."""
    width = 1 + len(TOOL_PIN_PARTS)
    for snapshot in plain.get("snapshots", {}).values():
        for name, pin in snapshot.get("tools", {}).items() if isinstance(snapshot, dict) else ():
            if isinstance(pin, list) and len(pin) < width and plain.get("revision", 0) < REVISION:
                snapshot["tools"][name] = [*pin, *[""] * (width - len(pin))]
    return plain


def is_of_newer_revision(content: LockContent) -> bool:
    """Tell whether a newer octoc wrote the lock, so that writing it again would lose what only that one knows."""
    return content.revision > REVISION


def _table(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    lines = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    if path and lines:
        yield f"\n[{'.'.join(_key(part) for part in path)}]\n"
    # The format's version comes first, where a reader of the file looks.
    for key in sorted(lines, key=lambda key: (bool(path) or key != "version", bool(path) or key != "revision", key)):
        yield f"{_key(key)} = {_value(lines[key])}\n"
    for key in sorted(table.keys() - lines.keys()):
        yield from _table((*path, key), table[key])


def _key(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if is_bare else _string(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    raise TypeError(f"the lock holds no {type(value).__name__}")


def _string(text: str) -> str:
    # JSON's escapes are TOML's, except DEL. What UTF-8 cannot hold, as a file name of other bytes, TOML cannot either.
    sound = text.encode("utf-8", "replace").decode()
    return encode_basestring(sound).replace("\x7f", "\\u007f")
