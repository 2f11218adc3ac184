"""Taps from git in a workspace: fetched once, locked by commit, used without a network."""

import json
import shutil
from pathlib import Path

import pytest

from octoc.cli import main
from octoc.compiler import build, check_workspace
from octoc.compiler.taps.store import has_taps_from_git, locked_taps
from octoc.compiler.taps.update import TapError, fetch_taps, update_taps
from tests.compiler.taps.conftest import SKILL, PublishedTap, write_workspace

LOCK = "octoc.lock"


def _codes(root: Path) -> list[str]:
    return [found.rule.code for found in check_workspace(root, use_cache=False).diagnostics if found.severity > 1]


def test_a_build_fetches_and_locks_a_tap_and_the_next_needs_no_remote(
    published: PublishedTap, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`octoc build` fetches the tap and locks its commit; afterwards it works without the repository."""
    commit = published.git("rev-parse", "HEAD")
    assert main(["build", "--workspace", str(workspace)]) == 0
    assert locked_taps(workspace)["acme"].commit == commit
    shutil.rmtree(published.folder)
    assert main(["build", "--locked", "--workspace", str(workspace)]) == 0
    (workspace / LOCK).unlink()
    assert main(["build", "--workspace", str(workspace)]) == 1
    assert "tap `acme` cannot be fetched from `../published`" in capsys.readouterr().err


def test_a_tap_from_git_gives_the_same_bundle_as_its_folder(published: PublishedTap, workspace: Path) -> None:
    """Where a tap comes from, and where its files are kept, changes no byte of the bundle."""
    fetch_taps(workspace)
    from_git = build(workspace)
    write_workspace(workspace, 'path = "../published"')
    (workspace / LOCK).unlink()
    from_folder = build(workspace)
    assert from_git.digest == from_folder.digest != ""


def test_a_check_uses_no_network(published: PublishedTap, workspace: Path) -> None:
    """`octoc check` reports a tap that is not fetched, and is content once it is."""
    assert _codes(workspace) == ["OCT788"]
    fetch_taps(workspace)
    assert _codes(workspace) == []


def test_a_locked_tap_stays_until_it_is_updated(
    published: PublishedTap, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new commit of the branch changes nothing before `octoc tap update`, and the build then names the change."""
    first = published.git("rev-parse", "HEAD")
    main(["build", "--workspace", str(workspace)])
    second = published.commit(text=SKILL.replace("past", "present"))
    main(["build", "--workspace", str(workspace)])
    assert locked_taps(workspace)["acme"].commit == first
    capsys.readouterr()
    assert main(["tap", "update", "--workspace", str(workspace)]) == 0
    assert capsys.readouterr().out == f"acme: commit {second[:12]}, was {first[:12]}\n"
    assert main(["build", "--locked", "--workspace", str(workspace)]) == 1
    assert "tap `acme` changed: `skills/minutes/SKILL.md`" in capsys.readouterr().out
    assert main(["build", "--workspace", str(workspace)]) == 0
    assert main(["build", "--locked", "--workspace", str(workspace)]) == 0


def test_another_machine_gets_the_locked_commit(
    published: PublishedTap, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an empty store a build fetches what the lock says, not what the branch is at now."""
    main(["build", "--workspace", str(workspace)])
    first = locked_taps(workspace)["acme"].commit
    build_digest = build(workspace).digest
    published.commit(text=SKILL.replace("past", "present"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert main(["build", "--locked", "--workspace", str(workspace)]) == 0
    assert [tap.commit for tap in fetch_taps(workspace)] == [first]
    assert build(workspace).digest == build_digest


def test_another_revision_in_the_file_is_looked_up_again(
    published: PublishedTap, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After `rev` changed, `--locked` fails, and a build locks the commit of the new revision."""
    main(["build", "--workspace", str(workspace)])
    published.commit(text=SKILL.replace("past", "present"))
    published.git("tag", "v1.0")
    write_workspace(workspace, 'git = "../published"\nrev = ">=1"')
    capsys.readouterr()
    assert main(["build", "--locked", "--workspace", str(workspace)]) == 1
    assert "tap `acme` is not on this machine" in capsys.readouterr().out
    assert main(["build", "--workspace", str(workspace)]) == 0
    assert "tap `acme` comes from `../published >=1`, was `../published`" in capsys.readouterr().out
    assert locked_taps(workspace)["acme"].commit == published.git("rev-parse", "v1.0")


def test_a_tap_may_be_a_folder_of_the_repository(published: PublishedTap, workspace: Path) -> None:
    """`path` of a tap from git is inside the repository; a link out of it is refused."""
    published.commit("tools/tap/skills/notes/SKILL.md", SKILL.replace("name: minutes", "name: notes"))
    (published.folder / "out").symlink_to("/etc")
    published.commit_all()
    write_workspace(workspace, 'git = "../published"\npath = "tools/tap"')
    fetch_taps(workspace)
    assert _codes(workspace) == []
    for path, code in (("tools/none", "OCT120"), ("out", "OCT123"), ("../..", "OCT204")):
        write_workspace(workspace, f'git = "../published"\npath = "{path}"')
        assert _codes(workspace) == [code], path


@pytest.mark.parametrize(
    "source, words",
    [
        ('git = "ext::sh -c id"', "expected `https://`"),
        ('git = "http://git.example/tap"', "expected `https://`"),
        ('git = "--upload-pack=id"', "expected `https://`"),
        ('git = "ssh://-oProxyCommand=id/tap"', "not an address"),
        ('git = "https://me:hunter2secret@git.example/tap"', "a password or a token"),
        ('git = "../published"\nrev = "^1.2"', "as Python does"),
        ('git = "../published"\nrev = "-x"', "expected a branch"),
        ('git = "../published"\npath = "/etc"', "inside the repository"),
    ],
)
def test_an_unsafe_source_is_reported_and_never_fetched(
    published: PublishedTap, workspace: Path, store: Path, source: str, words: str
) -> None:
    """The finding says why, without a secret, and the tap is left out of a fetch."""
    write_workspace(workspace, source)
    found = [one for one in check_workspace(workspace, use_cache=False).diagnostics if one.rule.code == "OCT204"]
    assert len(found) == 1
    assert words in found[0].message
    assert "hunter2" not in str(found)
    assert fetch_taps(workspace) == ()
    assert not store.exists()


def test_only_a_tap_with_git_is_one_from_git(tmp_path: Path) -> None:
    """Other keys of octoc.toml that are called `git` fetch nothing, nor does a file that cannot be read."""
    for text, is_from_git in (
        ('[providers]\ngit = "installed"\n', False),
        ('[[taps]]\nname = "a"\npath = "git"\n', False),
        ("taps = 1\n", False),
        ("[[taps]]\ngit = ", False),
        ('[[taps]]\nname = "a"\ngit = "../a"\n', True),
    ):
        (tmp_path / "octoc.toml").write_text(text)
        assert has_taps_from_git(tmp_path) is is_from_git, text


def test_the_lock_command_moves_one_tap(
    published: PublishedTap, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`octoc lock` fetches a tap that is not here, and `--upgrade` moves it and builds."""
    at = ["--workspace", str(workspace)]
    assert main(["lock", *at]) == 0
    first = locked_taps(workspace)["acme"].commit
    second = published.commit(text=SKILL.replace("past", "present"))
    assert main(["lock", *at]) == 0
    assert locked_taps(workspace)["acme"].commit == first
    capsys.readouterr()
    assert main(["lock", "--upgrade", "acme", *at]) == 0
    assert f"acme: commit {second}, was {first}" in capsys.readouterr().out
    assert main(["build", "--locked", *at]) == 0


def test_update_names_taps_that_are_there(published: PublishedTap, workspace: Path) -> None:
    """An unknown name is an error that lists the taps from git."""
    with pytest.raises(TapError, match="`other` is not a tap from git"):
        update_taps(workspace, ["other"])


def test_add_writes_the_tap_after_it_was_fetched(
    published: PublishedTap, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`octoc tap add` keeps the rest of octoc.toml, and `list` shows the tap with its commit."""
    at = ["--workspace", str(workspace)]
    text = "# ours\n" + (workspace / "octoc.toml").read_text()
    (workspace / "octoc.toml").write_text(text)
    address = f"file://{published.folder}"
    assert main(["tap", "add", "team/tools", address, "--rev", "main", *at]) == 0
    added = f'\n[[taps]]\nname = "team/tools"\ngit = "{address}"\nrev = "main"\n'
    assert (workspace / "octoc.toml").read_text() == text + added
    capsys.readouterr()
    assert main(["tap", "list", "--json", *at]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["commit"], first["present"]) == ("", False)
    assert (second["commit"], second["present"]) == (published.git("rev-parse", "HEAD"), True)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["acme", "../published", "--rev", "main"], "there is a tap `acme` already"),
        (["new", "../nowhere"], "cannot be fetched"),
        (["new", "../published", "--rev", "none"], "no branch or tag `none`"),
        (["new", "https://me:hunter2secret@git.example/tap"], "a password or a token"),
        (["new"], "`new` names no repository"),
        (["bad name", "../published", "--rev", "main"], "`bad name`"),
    ],
)
def test_add_changes_nothing_when_it_fails(
    published: PublishedTap,
    workspace: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    """The error says why, in one line without a secret, and octoc.toml stays as it is."""
    before = (workspace / "octoc.toml").read_text()
    assert main(["tap", "add", *arguments, "--workspace", str(workspace)]) == 1
    error = capsys.readouterr().err
    assert words in error
    assert "hunter2" not in error
    assert (workspace / "octoc.toml").read_text() == before
