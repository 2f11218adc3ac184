"""The highest revision of each bundle that was used, remembered in a file so that no older one is taken."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from octoc.bundle.codec import decode
from octoc.bundle.refusal import BundleError
from octoc.small_files import UnreadableFileError, small_bytes
from octoc.trust.refusal import UntrustedBundleError
from octoc.trust.trust_file import MAX_BYTES, VERSION, raw_fields
from octoc.whole_files import write_whole


@attrs.frozen(kw_only=True)
class _Revisions:
    version: int
    revisions: Mapping[str, int]


def seen(state: Path) -> Mapping[str, int]:
    """Return the highest revisions that were used, by name of the bundle; none if the file does not exist.

    Raises: UntrustedBundleError of kind `bad-revisions`.
    """
    try:
        found = decode(_Revisions, raw_fields(small_bytes(str(state), MAX_BYTES)))
    except FileNotFoundError:
        return {}
    except (UnreadableFileError, BundleError) as error:
        help_ = "restore it; without it, set `minimum_revision` in the trust file to the revision that ran last"
        raise _refused(state, f"the revisions in `{state}` cannot be read: {error}", help_) from None
    if found.version != VERSION:
        help_ = "use the octoc that wrote it"
        raise _refused(state, f"`{state}` is of version {found.version}: expected {VERSION}", help_)
    return found.revisions


def remember(state: Path, name: str, revision: int) -> int:
    """Write that `revision` of the bundle `name` is used, and return the highest one; several processes may do so.

    Raises: UntrustedBundleError of kind `bad-revisions`.
    """
    highest = seen(state).get(name, 0)
    if highest >= revision:
        return highest  # nothing to write, so the file may be on a read-only disk
    try:
        state.parent.mkdir(parents=True, exist_ok=True)
        with _locked(state.parent):
            revisions = dict(seen(state))
            highest = revisions[name] = max(revision, revisions.get(name, 0))
            text = json.dumps({"version": VERSION, "revisions": dict(sorted(revisions.items()))}, indent=2) + "\n"
            write_whole(state, text.encode(), sync=True)
    except OSError as error:
        help_ = (
            "set `state` in the trust file to a path that this user may write, "
            "or to null, and then raise `minimum_revision` with each deployment"
        )
        raise _refused(state, f"the revision cannot be written to `{state}`: {error.strerror}", help_) from None
    return highest


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _refused(state: Path, reason: str, help_: str) -> UntrustedBundleError:
    return UntrustedBundleError("bad-revisions", reason, help_, str(state))
