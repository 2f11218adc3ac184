"""Fetches one commit of a repository into the store, as plain files.

There is no checkout, so no hook or filter runs and no submodule is fetched.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, cast

import attrs

from octoc.compiler.taps.addresses import is_commit
from octoc.compiler.taps.remote import TapFetchError, git_command, git_environment, run_git

_MOST_FILES = 50_000
_MOST_BYTES = 256 * 1024 * 1024
_LINK, _EXECUTABLE = "120000", "100755"
_LONGEST_LINK = 4096
_SHA256_DIGITS = 64


@attrs.frozen(kw_only=True)
class CommitFile:
    """A file or symbolic link of a commit. `path` is relative to the repository's root; `size` in bytes."""

    path: PurePosixPath
    mode: str
    blob: str
    size: int


def fetch_commit(address: str, commit: str, store: Path) -> Path:
    """Put the files of a commit into the store, unless they are there, and return their folder.

    Symbolic links stay links; discovery refuses those that lead out of the tap. Submodules are left out, and a file of
    Git LFS is its pointer.

    Args:
        address: absolute, as `absolute_address` returns it.

    Raises: TapFetchError; OSError if the store cannot be written.
    """
    target = store / commit
    if target.is_dir():
        return target
    store.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=store) as scratch:
        repository, tree = Path(scratch, "repository"), Path(scratch, "tree")
        repository.mkdir()
        tree.mkdir(mode=0o755)
        _fetch(address, commit, repository)
        _write(list(_files(repository, commit)), repository, tree)
        try:
            tree.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was faster, with the same files
                raise
    return target


def _fetch(address: str, commit: str, repository: Path) -> None:
    kind = "sha256" if len(commit) == _SHA256_DIGITS else "sha1"
    run_git(repository, "init", "--quiet", "--bare", "--template=", f"--object-format={kind}", ".")
    fetch = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    try:
        run_git(repository, *fetch, "--depth=1", "--", address, commit)
    except TapFetchError:
        # Some servers give only what a branch or tag names.
        run_git(repository, *fetch, "--", address, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
    found = run_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    if found.decode().strip() != commit:
        raise TapFetchError(f"`{commit}` is not a commit")


def _files(repository: Path, commit: str) -> Iterator[CommitFile]:
    """Yield the files and links of a commit. Raises: TapFetchError for a path that may not be written."""
    listed = os.fsdecode(run_git(repository, "ls-tree", "-r", "-l", "-z", "--full-tree", commit))
    count = total = 0
    for entry in filter(None, listed.split("\0")):
        about, _, path = entry.partition("\t")
        mode, kind, blob, size = about.split()
        if kind != "blob":
            continue
        count, total = count + 1, total + int(size)
        if count > _MOST_FILES or total > _MOST_BYTES:
            raise TapFetchError(f"it has more than {_MOST_FILES:,} files or {_MOST_BYTES // 1024**2} MiB")
        parts = path.split("/")
        if any(part.casefold() in {"", ".", "..", ".git"} or "\\" in part for part in parts):
            raise TapFetchError(f"it has a file with the path {path!r}")
        yield CommitFile(path=PurePosixPath(*parts), mode=mode, blob=blob, size=int(size))


def _write(files: list[CommitFile], repository: Path, tree: Path) -> None:
    # Links last, so that no file is written through one.
    files.sort(key=lambda file: (file.mode == _LINK, file.path))
    wanted = repository / "wanted"
    wanted.write_text("".join(f"{file.blob}\n" for file in files))
    with (
        wanted.open("rb") as names,
        subprocess.Popen(
            git_command("cat-file", "--batch"),
            cwd=repository,
            env=git_environment(),
            stdin=names,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as git,
    ):
        blobs = cast("IO[bytes]", git.stdout)
        for file in files:
            _write_one(file, _next_blob(blobs, file), tree / file.path)


def _next_blob(stream: IO[bytes], file: CommitFile) -> bytes:
    head = stream.readline().decode("ascii", "replace").split()
    if not head or not is_commit(head[0]) or head[1:] != ["blob", str(file.size)]:
        raise TapFetchError(f"git cannot read `{file.path}`")
    data = stream.read(file.size)
    if len(data) != file.size or stream.read(1) != b"\n":
        raise TapFetchError(f"git cannot read `{file.path}`")
    return data


def _write_one(file: CommitFile, data: bytes, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if file.mode == _LINK:
        if len(data) > _LONGEST_LINK or b"\0" in data:
            raise TapFetchError(f"`{file.path}` is not a usable symbolic link")
        path.symlink_to(os.fsdecode(data))
        return
    mode = 0o755 if file.mode == _EXECUTABLE else 0o644
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)
    with os.fdopen(handle, "wb") as out:
        os.fchmod(out.fileno(), mode)  # whatever the umask
        out.write(data)
