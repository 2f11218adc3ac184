"""Runs the system's git for taps, so that nothing in a fetched repository runs, and asks what revisions name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from octoc.compiler.taps.addresses import is_commit, is_range
from octoc.masking import mask_secrets
from octoc.plain_text import plain, shortened

_SECONDS = 300
_OPTIONS = {
    # A user's own hooks for all repositories would run in the scratch repository.
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.fsckObjects": "true",
    # `ext::` runs a program, and plain http and git can be changed on the way.
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "protocol.ssh.allow": "always",
    "protocol.file.allow": "always",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "30",
}
_OF_A_REPOSITORY = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_TEMPLATE_DIR",
    "GIT_WORK_TREE",
)
"""Variables that a hook of git sets, which would make git work on the repository that the hook runs in."""
_REASON = re.compile(r"^(?:fatal|error|ssh|Host key[^\n]*): ?(.*)$", re.MULTILINE)
_LONGEST_REASON = 300
_MOST_TAGS = 100_000


class TapFetchError(Exception):
    """A tap cannot be fetched: git is missing, fails, or the remote has no such revision. One line."""


def run_git(folder: Path, *arguments: str) -> bytes:
    """Return what git prints when it runs in `folder`. Raises: TapFetchError with git's own reason."""
    command = git_command(*arguments)
    try:
        done = subprocess.run(  # git, without a shell
            command, cwd=folder, env=git_environment(), capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise TapFetchError(f"git did not finish within {_SECONDS} s") from None
    except OSError as error:
        raise TapFetchError(f"git cannot be run: {error.strerror or error}") from error
    if done.returncode:
        raise TapFetchError(_reason(done.stderr, done.returncode))
    return done.stdout


def git_command(*arguments: str) -> list[str]:
    """Return git's command line with the options of a tap. Raises: TapFetchError without git."""
    git = shutil.which("git")
    if git is None:
        raise TapFetchError("git is not installed, or is not on PATH")
    options = [part for key, value in _OPTIONS.items() for part in ("-c", f"{key}={value}")]
    return [git, *options, *arguments]


def git_environment() -> dict[str, str]:
    """Return this process's variables as git gets them: no question on the terminal, no other repository."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_A_REPOSITORY}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    if "GIT_SSH_COMMAND" not in environment and "GIT_SSH" not in environment:
        environment["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes"
    return environment


def commit_named(address: str, revision: str, scratch: Path) -> str:
    """Return the commit that a revision names at the remote now.

    Args:
        address: absolute, as `absolute_address` returns it.
        revision: a branch, a tag, a whole commit id, a range of versions (the highest tag in it), or empty for the
            remote's default branch. A tag comes before a branch of the same name, as for git.
        scratch: an empty folder for git to run in.

    Raises: TapFetchError.
    """
    if is_commit(revision):
        return revision
    if not revision:
        return _one(_refs(address, scratch, "HEAD"), "HEAD", "it has no default branch: set `rev`")
    if is_range(revision):
        return _newest(_refs(address, scratch, "refs/tags/*"), revision)
    refs = _refs(address, scratch, f"refs/tags/{revision}*", f"refs/heads/{revision}", revision)
    wanted = (f"refs/tags/{revision}", f"refs/heads/{revision}", revision)
    name = next((name for name in wanted if name in refs), revision)
    return _one(refs, name, f"it has no branch or tag `{revision}`")


def _one(refs: Mapping[str, str], name: str, trouble: str) -> str:
    if name not in refs:
        raise TapFetchError(trouble)
    return refs[name]


def _newest(refs: Mapping[str, str], revision: str) -> str:
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion, Version

    versions = {}
    for name, commit in refs.items():
        try:
            versions[Version(name.removeprefix("refs/tags/"))] = commit
        except InvalidVersion:
            continue  # such as `nightly`
    inside = list(SpecifierSet(revision).filter(versions))
    if not inside:
        known = ", ".join(f"`{version}`" for version in sorted(versions, reverse=True)[:3])
        raise TapFetchError(f"no tag is a version in `{revision}`" + (f"; the newest are {known}" if known else ""))
    return versions[max(inside)]


def _refs(address: str, scratch: Path, *patterns: str) -> dict[str, str]:
    """Return the remote's refs by name, each with its commit: an annotated tag has that of what it points to."""
    lines = run_git(scratch, "ls-remote", "--", address, *patterns).decode("utf-8", "replace").splitlines()
    if len(lines) > _MOST_TAGS:
        raise TapFetchError(f"it has more than {_MOST_TAGS:,} branches and tags")
    refs: dict[str, str] = {}
    for line in lines:
        commit, _, name = line.partition("\t")
        if is_commit(commit):
            # `^{}` follows the tag that it peels.
            refs[name.removesuffix("^{}")] = commit
    return refs


def _reason(stderr: bytes, status: int) -> str:
    text = plain(stderr.decode("utf-8", "replace"))
    found = _REASON.search(text)
    reason = found[0] if found else next(iter(text.strip().splitlines()), f"exit status {status}")
    return shortened(mask_secrets(reason.removeprefix("fatal: ").strip()), _LONGEST_REASON)
