"""`octoc check --since` and `--baseline`: a repository adopts octoc today, and fails on what is new."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.baseline import compare, read_baseline, write_baseline
from octoc.diagnostics.model import Diagnostic, Span
from octoc.diagnostics.rules import all_rules

Run = Callable[..., Any]

UNTYPED = '{"mcpServers": {"%s": {"url": "https://%s.example/mcp"}}}\n'
SECRET = '{"mcpServers": {"a": {"command": "a", "args": ["--token=TOKEN"]}}}'
SOUND = '{"mcpServers": {}}\n'


def _git(folder: Path, *arguments: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose first commit has one finding in `old/.mcp.json`, tagged `start`."""
    folder = tmp_path / "repository"
    _write(folder / "old/.mcp.json", UNTYPED % ("old", "old"))
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message=first")
    _git(folder, "tag", "start")
    monkeypatch.chdir(folder)
    return folder


def _found(done: Any) -> list[tuple[str, str]]:
    """Return file and code of each finding except infos."""
    found = json.loads(done.out)
    return [(each["file"], each["code"]) for each in found if each["severity"] != "info"]


def test_since_reports_changed_and_new_files(octoc: Run, repository: Path) -> None:
    """A commit, a change in the working tree and an untracked file count; what was there before does not."""
    _write(repository / "committed/.mcp.json", UNTYPED % ("a", "a"))
    _git(repository, "add", "--all")
    _git(repository, "commit", "--quiet", "--message=second")
    _write(repository / "untracked/.mcp.json", UNTYPED % ("b", "b"))
    done = octoc("check", "--since", "start", "--json")
    assert _found(done) == [("committed/.mcp.json", "OCT224"), ("untracked/.mcp.json", "OCT224")]
    assert "in files that have not changed since `start`" in done.err


def test_since_counts_from_where_the_branch_began(octoc: Run, repository: Path) -> None:
    """What main got after the branch began is not the branch's change."""
    _git(repository, "branch", "topic")
    _write(repository / "old/.mcp.json", UNTYPED % ("changed", "changed"))
    _git(repository, "commit", "--quiet", "--all", "--message=on main")
    _git(repository, "switch", "--quiet", "topic")
    assert _found(octoc("check", "--since", "main", "--json")) == []


def test_since_works_in_a_folder_below(octoc: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder of the repository, also one that a link leads to, only that folder's changes are shown."""
    _write(repository / "below/.mcp.json", UNTYPED % ("a", "a"))
    link = repository.parent / "link"
    link.symlink_to(repository)
    for folder in (repository / "below", link / "below"):
        monkeypatch.chdir(folder)
        assert _found(octoc("check", "--since", "start", "--json")) == [(".mcp.json", "OCT224")]


def test_since_fixes_only_changed_files(octoc: Run, repository: Path) -> None:
    """With `--fix` a file that has not changed stays as it is."""
    _write(repository / "new/.mcp.json", UNTYPED % ("a", "a"))
    done = octoc("check", "--since", "start", "--fix")
    assert "fixed 1 finding in 1 file" in done.err
    assert '"type"' in (repository / "new/.mcp.json").read_text(encoding="utf-8")
    assert '"type"' not in (repository / "old/.mcp.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", ""])
def test_an_unknown_revision_is_an_error(octoc: Run, repository: Path, revision: str) -> None:
    """A revision that git does not know ends with 2, also one that looks like an option; nothing is written."""
    done = octoc("check", f"--since={revision}")
    assert done.status == 2
    assert f"git knows no revision `{revision}`" in done.err
    assert "= help: name a commit" in done.err
    assert sorted(path.name for path in repository.iterdir()) == [".git", "old"]


def test_since_needs_a_repository(octoc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a repository `--since` ends with 2."""
    _write(tmp_path / "plain/.mcp.json", SOUND)
    monkeypatch.chdir(tmp_path / "plain")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    done = octoc("check", "--since", "main")
    assert done.status == 2
    assert "is not in a git repository" in done.err


def test_a_baseline_hides_what_it_has(octoc: Run, repository: Path) -> None:
    """After `--update-baseline` the same findings pass, wherever they move in their file, and a new one fails."""
    wrote = octoc("check", "--baseline", "base.json", "--update-baseline")
    assert (wrote.status, wrote.out) == (0, "")
    assert "to base.json" in wrote.err
    _write(repository / "old/.mcp.json", "\n\n" + UNTYPED % ("old", "old"))
    done = octoc("check", "--baseline", "base.json", "--fail-on", "warning")
    assert (done.status, done.out) == (0, "")
    assert "in the baseline" in done.err
    _write(repository / "new/.mcp.json", UNTYPED % ("a", "a"))
    done = octoc("check", "--baseline", "base.json", "--fail-on", "warning", "--json")
    assert done.status == 1
    assert _found(done) == [("new/.mcp.json", "OCT224")]


def test_a_second_finding_like_an_accepted_one_is_new(tmp_path: Path) -> None:
    """The baseline counts: where two findings have one message and one is accepted, the other is reported."""
    rule = all_rules()["OCT224"]
    one, two = (
        Diagnostic(rule=rule, message="m", severity=rule.severity, span=Span(file="a", line=line)) for line in (1, 2)
    )
    write_baseline(tmp_path / "base.json", [one], tmp_path)
    accepted = read_baseline(tmp_path / "base.json")
    found = compare([one, two], accepted, base=tmp_path, folder=tmp_path, read=frozenset())
    assert (found.new, found.accepted) == ((two,), 1)


def test_what_is_gone_is_counted(octoc: Run, repository: Path) -> None:
    """A finding of the baseline that is fixed, or whose file was deleted, is counted with the next step."""
    octoc("check", "--baseline", "base.json", "--update-baseline")
    many = len(json.loads((repository / "base.json").read_text(encoding="utf-8"))["findings"])
    _write(repository / "old/.mcp.json", SOUND)
    done = octoc("check", "--baseline", "base.json")
    assert f"{many} finding" in done.err
    assert "--update-baseline removes" in done.err


def test_a_baseline_counts_paths_from_its_own_folder(
    octoc: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A baseline fits from whichever folder the check runs."""
    octoc("check", "--baseline", "base.json", "--update-baseline")
    monkeypatch.chdir(repository / "old")
    done = octoc("check", "--baseline", "../base.json", "--json")
    assert json.loads(done.out) == []


def test_a_baseline_has_a_finding_in_a_line(octoc: Run, repository: Path) -> None:
    """The file is the same for the same findings, and each stands in a line of its own, without secrets."""
    token = "ghp_" + "a1B2" * 9
    _write(repository / "old/.mcp.json", SECRET.replace("TOKEN", token))
    octoc("check", "--baseline", "one.json", "--update-baseline")
    octoc("check", "--baseline", "two.json", "--update-baseline")
    text = (repository / "one.json").read_text(encoding="utf-8")
    assert text == (repository / "two.json").read_text(encoding="utf-8")
    assert token not in text
    found = json.loads(text)["findings"]
    assert len(found) > 0
    assert text.count("\n  {") == len(found)


@pytest.mark.parametrize(
    "text,why",
    [
        ("{", "not JSON"),
        ("[]", "no `octoc_baseline`"),
        ('{"octoc_baseline": 2, "findings": []}', "its format is 2"),
        ('{"octoc_baseline": 1}', "`findings` is not a list"),
        ('{"octoc_baseline": 1, "findings": [{"file": "a"}]}', "`findings[0]` is not an object"),
        ('{"octoc_baseline": 1, "findings": [{"file": "a", "code": "b", "message": "c", "count": 0}]}', "findings[0]"),
    ],
)
def test_a_broken_baseline_is_an_error(octoc: Run, repository: Path, text: str, why: str) -> None:
    """A baseline that cannot be read ends with 2 and hides nothing in silence."""
    _write(repository / "base.json", text)
    done = octoc("check", "--baseline", "base.json")
    assert (done.status, done.out) == (2, "")
    assert why in done.err
    assert "--update-baseline" in done.err


def test_a_missing_baseline_names_the_next_step(octoc: Run, repository: Path) -> None:
    """Without the file, `--baseline` ends with 2 and says how to write it."""
    done = octoc("check", "--baseline", "base.json")
    assert done.status == 2
    assert "write it: add --update-baseline to this command" in done.err


@pytest.mark.parametrize(
    "options",
    [
        ("--update-baseline",),
        ("--baseline=b", "--update-baseline", "--since=start"),
        ("--baseline=b", "--update-baseline", "--fix"),
    ],
)
def test_options_that_contradict_are_refused(octoc: Run, repository: Path, options: tuple[str, ...]) -> None:
    """A baseline of half of the findings would hide the others' return: it is not written."""
    done = octoc("check", "--update-baseline", *options)
    assert done.status == 2
    assert "--update-baseline" in done.err
    assert not (repository / "b").exists()
