"""Which addresses and revisions a tap from git may have, by their text alone."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from urllib.parse import SplitResult, urlsplit

from octoc.credentials import credentials_in

_SCHEMES = ("https", "ssh", "file")
_SCP = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:(?!//)[^\s:][^\s]*")
"""The short form of ssh: `git@host:owner/tap.git`."""
_LOCAL = ("/", "./", "../")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_RANGE = re.compile(r"\s*(?:[<>]=?|~=|!=|===?)")
_NOT_A_RANGE = re.compile(r"\s*(?:\^|~(?!=)|=(?!=))")
_REF_FORBIDS = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^-|^/|/$|\.$|\.lock$")
"""What `git check-ref-format` refuses, and a leading dash, which git would read as an option."""


def is_commit(revision: str) -> bool:
    """Tell whether a revision is a whole commit id, by SHA-1 or SHA-256."""
    return _COMMIT.fullmatch(revision) is not None


def is_range(revision: str) -> bool:
    """Tell whether a revision is a range of versions, such as `>=1.2,<2`."""
    return _RANGE.match(revision) is not None


def address_trouble(address: str) -> str:
    """Return why git may not fetch from an address; empty if it may.

    git can run programs that an address names (`ext::`), and plain `http` and `git` let anyone on the way change the
    answer. An address with a password or a token would put it into `octoc.toml`.
    """
    if address.startswith(_LOCAL) or _SCP.fullmatch(address):
        return ""
    try:
        parts = urlsplit(address)
        password = parts.password
    except ValueError:
        return "it is not an address"
    if "://" not in address or parts.scheme not in _SCHEMES:
        return "expected `https://`, `ssh://`, `user@host:path`, or a folder that starts with `/`, `./` or `../`"
    if password is not None or credentials_in(address):
        return "it has a password or a token"
    if any(ord(each) <= ord(" ") for each in address) or not _names_a_place(parts):
        return "it is not an address"
    return ""


def _names_a_place(parts: SplitResult) -> bool:
    if parts.scheme == "file":
        return parts.path.startswith("/") and not parts.netloc
    return bool(parts.hostname) and not parts.netloc.rpartition("@")[2].startswith("-")


def revision_trouble(revision: str) -> str:
    """Return why a revision cannot be used; empty if it can."""
    if not revision or is_commit(revision):
        return ""
    if _NOT_A_RANGE.match(revision):
        return "write a range of versions as Python does: `>=1.2,<2` or `~=1.2`"
    if is_range(revision):
        from packaging.specifiers import InvalidSpecifier, SpecifierSet

        try:
            SpecifierSet(revision)
        except InvalidSpecifier:
            return "write a range of versions as Python does: `>=1.2,<2` or `~=1.2`"
        return ""
    return "expected a branch, a tag, a commit or a range of versions" if _REF_FORBIDS.search(revision) else ""


def folder_trouble(path: str) -> str:
    """Return why a path cannot be a folder inside a repository; empty if it can."""
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\x00" in path:
        return "expected a folder inside the repository"
    return ""


def absolute_address(address: str, root: Path) -> str:
    """Return the address as git takes it from any folder: a relative one is relative to `root`."""
    return os.path.normpath(root.absolute() / address) if address.startswith(_LOCAL) else address
