"""Files of skills that differ from the digests in other programs' locks: those that `inputs/published.py` names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.inputs.published import SKILLS_FOLDERS
from octoc.compiler.workspace.files import bytes_if_any
from octoc.diagnostics.rules import check as rules
from octoc.lists import some_names

_LEFT_OUT = frozenset({".git", "node_modules"})
_MOST_FILES = 2_000
_MOST_BYTES = 64 * 1024 * 1024
_SHOWN = 5
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}\Z")
_ORDER = {char: index for index, char in enumerate(" _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789")}
"""The first characters of Unicode's root collation, by which `localeCompare` sorts; letters follow."""


class _UndecidedError(Exception):  # tells the caller that this octoc cannot compute the digest
    """A folder is too large, or a name has characters whose order depends on a locale."""


def check_skill_files(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Report skills whose files do not have the digest of a `skills-lock.json`. A skill that is not there has none."""
    root = inspection.file.path.parent
    present, changed = 0, []
    for name, skill in values["skills"].items():
        if "computedHash" not in skill:
            continue
        folders = [folder for place in SKILLS_FOLDERS if (folder := _folder(root / place, name)) is not None]
        try:
            digests = {digest for folder in folders for digest in skill_digests(folder)}
        except (_UndecidedError, OSError):
            continue
        present += bool(digests)
        if digests and skill["computedHash"] not in digests:
            changed.append(name)
    if changed:
        inspection.report(
            rules.SKILL_FILES_CHANGED,
            f"the files of {len(changed)} of {present} skills differ from `computedHash`: "
            f"{some_names(changed, _SHOWN)}",
            ("skills", changed[0], "computedHash"),
            help="compare the skills with their sources; `npx skills update` installs them again",
        )


def _folder(place: Path, name: str) -> Path | None:
    for written in dict.fromkeys((name, re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip(".-"))):
        if written and not {"/", "\\"} & set(written) and (place / written / "SKILL.md").is_file():
            return place / written
    return None


def skill_digests(folder: Path) -> frozenset[str]:
    """Return the digest of a skill's folder as the `skills` program computes it: of its files' paths and bytes.

    There are two if git may have changed line ends: also that of text with line ends of Unix.

    Raises: OSError; _UndecidedError for a folder that is too large, or a name outside ASCII.
    """
    digest, unix, size = hashlib.sha256(), hashlib.sha256(), 0
    for path in sorted(_files(folder, folder), key=_collation):
        data = (folder / path).read_bytes()
        size += len(data)
        if size > _MOST_BYTES:
            raise _UndecidedError
        digest.update(path.encode() + data)
        unix.update(path.encode() + data.replace(b"\r\n", b"\n"))
    return frozenset({digest.hexdigest(), unix.hexdigest()})


def _files(base: Path, folder: Path) -> Iterator[str]:
    pending, count = [folder], 0
    while pending:
        for entry in pending.pop().iterdir():
            if entry.is_symlink():
                continue
            if entry.is_dir():
                pending += [entry] if entry.name not in _LEFT_OUT else []
            elif entry.is_file():
                count += 1
                path = entry.relative_to(base).as_posix()
                if count > _MOST_FILES or not path.isascii():
                    raise _UndecidedError
                yield path


def _collation(path: str) -> tuple[list[int], list[bool]]:
    """Return a key by which paths in ASCII sort as in Unicode's root collation: lower case first among equals."""
    return [_ORDER.get(char, 100 + ord(char)) for char in path.lower()], [char.isupper() for char in path]


def check_deployed_files(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Report deployed files that do not have the digest of an `apm.lock.yaml`. A file that is not there has none."""
    root = inspection.file.path.parent
    present, changed = 0, []
    for path, digest in sorted(_deployed(values)):
        data = _file_below(root, path)
        if data is None or not _SHA256.match(digest):
            continue
        present += 1
        # Releases before 0.26 digest the bytes, later ones text with line ends of Unix.
        forms = (data, data.replace(b"\r\n", b"\n"))
        if digest.removeprefix("sha256:") not in {hashlib.sha256(form).hexdigest() for form in forms}:
            changed.append(path)
    if changed:
        inspection.report(
            rules.DEPLOYED_FILES_CHANGED,
            f"{len(changed)} of {present} deployed files differ from their digests: {some_names(changed, _SHOWN)}",
            (),
            help="run `apm audit` to see each, and `apm install` to deploy the locked files again",
        )


def _deployed(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    listed = values.get("dependencies")
    tables = [values.get("local_deployed_file_hashes")]
    packages = listed if isinstance(listed, list) else []
    tables += [one.get("deployed_file_hashes") for one in packages if isinstance(one, Mapping)]
    for table in tables:
        for path, digest in table.items() if isinstance(table, Mapping) else ():
            if isinstance(path, str) and isinstance(digest, str):
                yield path, digest


def _file_below(root: Path, written: str) -> bytes | None:
    """Return the bytes of a file that a lock names, None for one that is not there, is large, or leads outside."""
    parts = PurePosixPath(written).parts
    if not parts or parts[0] == "/" or ".." in parts or "\\" in written or "\0" in written:
        return None
    path = root.joinpath(*parts)
    inside = [root.joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
    try:
        if any(folder.is_symlink() for folder in inside) or path.stat().st_size > _MOST_BYTES:
            return None
    except OSError:
        return None
    return bytes_if_any(path)
