"""What a fetch leaves in the store, and what it never runs."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from octoc.compiler.taps.fetch import fetch_commit
from octoc.compiler.taps.remote import TapFetchError, commit_named, git_environment
from tests.compiler.taps.conftest import AUTHOR, PublishedTap


def test_a_commit_is_a_folder_of_its_files_with_their_bits(published: PublishedTap, store: Path) -> None:
    """Bytes, executable bits and symbolic links are those of the commit."""
    script = published.folder / "deps" / "org" / "tool.sh"
    script.parent.mkdir(parents=True)
    script.write_bytes(b"#!/bin/sh\r\necho hi\n")
    script.chmod(0o755)
    (published.folder / "skills" / "alias").symlink_to("minutes")
    commit = published.commit_all()
    tree = fetch_commit(str(published.folder), commit, store)
    copied = tree / "deps" / "org" / "tool.sh"
    assert copied.read_bytes() == script.read_bytes()
    assert stat.S_IMODE(copied.stat().st_mode) == 0o755
    assert (tree / "skills" / "alias").readlink() == Path("minutes")
    assert not (tree / ".git").exists()
    assert sorted(path.name for path in store.iterdir()) == [commit]


def test_an_older_commit_is_fetched_by_its_id(published: PublishedTap, store: Path) -> None:
    """A commit that no branch names is fetched as well."""
    first = published.git("rev-parse", "HEAD")
    published.commit("skills/minutes/more.md", "more")
    tree = fetch_commit(str(published.folder), first, store)
    assert [path.name for path in (tree / "skills" / "minutes").iterdir()] == ["SKILL.md"]


def test_no_hook_filter_or_submodule_of_the_repository_runs(
    published: PublishedTap, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook, a filter that the user's own settings define, and a submodule leave no trace."""
    ran = tmp_path / "ran"
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f'[filter "spy"]\n\tsmudge = "echo filter >>{ran} && cat"\n\tclean = cat\n'
        f'[core]\n\thooksPath = {tmp_path}/hooks\n[protocol "file"]\n\tallow = always\n'
    )
    inner = PublishedTap(tmp_path / "inner")
    inner.folder.mkdir()
    inner.git("init", "--quiet")
    inner.commit("inside.txt", "inside")
    published.git("submodule", "--quiet", "add", str(inner.folder), "sub")
    published.commit(".gitattributes", "*.md filter=spy\n")
    published.commit("hooks/post-checkout", f"#!/bin/sh\necho hook >>{ran}\n")
    commit = published.git("rev-parse", "HEAD")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for folder in (hooks, published.folder / ".git" / "hooks"):
        for name in ("reference-transaction", "post-checkout", "post-merge", "post-index-change"):
            (folder / name).write_text(f"#!/bin/sh\necho {name} >>{ran}\n")
            (folder / name).chmod(0o755)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    # What a plain checkout does here: the test would be empty if it ran nothing either.
    plain = ["git", "clone", "--quiet", "--recurse-submodules", str(published.folder), str(tmp_path / "clone")]
    subprocess.run(plain, check=True, capture_output=True, env={**os.environ, **AUTHOR})
    assert {"reference-transaction", "post-checkout", "filter"} <= set(ran.read_text().split())
    assert (tmp_path / "clone" / "sub" / "inside.txt").is_file()
    ran.unlink()
    tree = fetch_commit(str(published.folder), commit, store)
    assert not ran.exists()
    assert (tree / "skills" / "minutes" / "SKILL.md").is_file()
    assert not (tree / "sub").exists()


def test_a_path_that_leads_out_is_refused(published: PublishedTap, store: Path) -> None:
    """A tree that was made by hand with `..` in a path is not written, and nothing of it is kept."""
    blob = published.git("hash-object", "-w", "skills/minutes/SKILL.md")
    inner = _tree(published, f"100644 blob {blob}\t..")
    commit = published.git("commit-tree", "-m", "bad", _tree(published, f"040000 tree {inner}\tskills"))
    published.git("update-ref", "refs/heads/bad", commit)
    with pytest.raises(TapFetchError):
        fetch_commit(str(published.folder), commit, store)
    assert list(store.iterdir()) == []


@pytest.mark.parametrize(
    "revision, tag",
    [
        ("", "main"),
        ("main", "main"),
        ("v1.1.0", "v1.1.0"),
        (">=1,<2", "v1.10.0"),
        ("~=1.1.0", "v1.1.0"),
        (">=3.0.dev0", "v3.0.0rc1"),
        ("noted", "v2.0"),
        ("refs/heads/main", "main"),
    ],
)
def test_a_revision_names_a_commit(published: PublishedTap, tmp_path: Path, revision: str, tag: str) -> None:
    """A branch, a tag, an annotated tag, and the highest version of a range, without pre-releases, name a commit."""
    for name in ("v1.1.0", "v1.10.0", "v2.0", "v3.0.0rc1", "nightly"):
        published.commit("version.txt", name)
        published.git("tag", name)
    published.git("tag", "--annotate", "--message", "noted", "noted", "v2.0")
    published.commit("version.txt", "newest")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert commit_named(str(published.folder), revision, scratch) == published.git("rev-parse", f"{tag}^{{commit}}")


@pytest.mark.parametrize(
    "revision, reason",
    [("nosuch", "no branch or tag `nosuch`"), (">=9", "no tag is a version in `>=9`; the newest are `1.0`")],
)
def test_a_revision_that_is_not_there_is_reported(
    published: PublishedTap, tmp_path: Path, revision: str, reason: str
) -> None:
    """The reason names the revision, and the newest versions for a range."""
    published.git("tag", "v1.0")
    with pytest.raises(TapFetchError, match=reason):
        commit_named(str(published.folder), revision, tmp_path)


def test_git_works_outside_the_repository_of_a_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that a hook sets for its own repository do not reach git, and git asks nothing."""
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    environment = git_environment()
    assert "GIT_DIR" not in environment
    assert environment["GIT_TERMINAL_PROMPT"] == "0"


def _tree(published: PublishedTap, entry: str) -> str:
    command = ["git", "-C", str(published.folder), "mktree"]
    return subprocess.run(command, input=f"{entry}\n", text=True, capture_output=True, check=True).stdout.strip()
