"""A check from the cache equals a new check."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from octoc.compiler.cache.build_cache import CachedOutcome
from octoc.compiler.cache.store import workspace_cache
from octoc.compiler.checkup import check as checkup
from octoc.compiler.checkup.check import CheckOutcome, check_target, check_workspace
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.workspace.environment import Environment
from octoc.plugin.folders import user_cache

MCP = '{"mcpServers": {"a": {"url": "http://a.example/mcp", "headers": {"Authorization": "${TOKEN}"}}}}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with one server and one mistake."""
    (tmp_path / "octoc.toml").write_text("[workspace]\nname = 'w'\n", encoding="utf-8")
    (tmp_path / ".mcp.json").write_text(MCP, encoding="utf-8")
    return tmp_path


def _fresh(folder: Path) -> CheckOutcome:
    return check_workspace(folder, use_cache=False)


def test_the_second_check_is_told_from_the_first(folder: Path) -> None:
    """With nothing changed no stage runs, and the findings are the same to the last fix."""
    first, second = check_workspace(folder), check_workspace(folder)
    assert (first.unchanged, second.unchanged) == (False, True)
    assert first.diagnostics == second.diagnostics == _fresh(folder).diagnostics
    assert any(found.fix is not None for found in second.diagnostics)


def _edit(folder: Path) -> None:
    (folder / ".mcp.json").write_text(MCP.replace('"url"', '"type": "http", "url"'), encoding="utf-8")


def _new_file(folder: Path) -> None:
    agent = folder / "agents" / "a" / "AGENT.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("---\nname: a\ndescription: b\ntools: [gone]\n---\n", encoding="utf-8")


def _gone(folder: Path) -> None:
    (folder / ".mcp.json").unlink()


def _setting(folder: Path) -> None:
    (folder / "octoc.toml").write_text("[workspace]\nname = 'w'\nmode = 'production'\n", encoding="utf-8")


def _lint(folder: Path) -> None:
    (folder / "octoc.toml").write_text("[workspace]\nname = 'w'\n[lint.rules]\nuntyped-url = 'off'\n", encoding="utf-8")


def _broken_settings(folder: Path) -> None:
    (folder / "octoc.toml").write_text("[workspace\n", encoding="utf-8")


def _link(folder: Path) -> None:
    (folder / ".mcp.json").rename(folder / "real.json")
    (folder / ".mcp.json").symlink_to("gone.json")


@pytest.mark.parametrize("change", [_edit, _new_file, _gone, _setting, _lint, _broken_settings, _link])
def test_whatever_changes_the_answer_is_seen(folder: Path, change: Callable[[Path], None]) -> None:
    """After a change of any input the check says what a check without cache says."""
    before = check_workspace(folder)
    change(folder)
    after = check_workspace(folder)
    assert not after.unchanged
    assert after.diagnostics == _fresh(folder).diagnostics != before.diagnostics


def test_a_change_and_back_is_known_again(folder: Path) -> None:
    """The key is the content, not the time: what was checked once is known when it comes back."""
    first = check_workspace(folder)
    _edit(folder)
    check_workspace(folder)
    (folder / ".mcp.json").write_text(MCP, encoding="utf-8")
    again = check_workspace(folder)
    assert again.unchanged
    assert again.diagnostics == first.diagnostics


def test_the_environment_is_part_of_the_question(folder: Path) -> None:
    """A check with another environment is another check."""
    target = CheckTarget(root=folder)
    unsaid = check_target(target)
    unset = check_target(target, environment=Environment())
    given = check_target(target, environment=Environment(names={"TOKEN": True}))
    assert not unset.unchanged
    assert not given.unchanged
    assert unset.diagnostics != given.diagnostics
    assert check_target(target).diagnostics == unsaid.diagnostics


def test_the_cache_may_be_deleted_or_damaged(folder: Path) -> None:
    """Without its cache, or with one that is cut short, a check says the same."""
    first = check_workspace(folder)
    kept = workspace_cache(folder)
    assert kept is not None
    for entry in kept.rglob("*.json"):
        entry.write_bytes(entry.read_bytes()[:-20])
    assert check_workspace(folder).diagnostics == first.diagnostics
    shutil.rmtree(kept)
    again = check_workspace(folder)
    assert (again.unchanged, again.diagnostics) == (False, first.diagnostics)


def test_a_check_is_remembered_in_the_users_cache(tmp_path: Path) -> None:
    """Nothing is written into the folder that is checked, with an octoc.toml or without one."""
    (tmp_path / ".mcp.json").write_text(MCP, encoding="utf-8")
    target = CheckTarget(root=tmp_path, folder=tmp_path)
    first, second = check_target(target), check_target(target)
    assert second.unchanged
    assert first.diagnostics == second.diagnostics
    assert [path.name for path in tmp_path.iterdir()] == [".mcp.json"]
    kept = workspace_cache(tmp_path)
    assert kept is not None
    assert list((kept / "check").iterdir())
    (tmp_path / "octoc.toml").write_text("[workspace]\nname = 'w'\n", encoding="utf-8")
    check_workspace(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mcp.json", "octoc.toml"]


def test_a_repository_cannot_bring_a_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries in the workspace that say "no problems" of these very inputs are not read, wherever they lie."""
    with monkeypatch.context() as forged:
        forged.setattr(checkup, "CachedOutcome", lambda **_: CachedOutcome())
        assert check_workspace(folder).diagnostics
        assert check_workspace(folder).diagnostics == ()  # the forged entry works where it is believed
    kept = workspace_cache(folder)
    assert kept is not None
    for place in (".octoc/cache", ".cache/octoc", ".octoc"):
        shutil.copytree(kept, folder / place, dirs_exist_ok=True)
    shutil.rmtree(kept)
    assert check_workspace(folder).diagnostics == _fresh(folder).diagnostics != ()


def test_without_the_cache_nothing_is_read_or_kept(folder: Path) -> None:
    """`--no-cache` finds what is there, although an entry says otherwise, and leaves no entry."""
    check_workspace(folder)
    kept = workspace_cache(folder)
    assert kept is not None
    shutil.rmtree(kept)
    assert not check_workspace(folder, use_cache=False).unchanged
    assert [path for path in kept.parent.rglob("*") if kept in path.parents] == []


def test_no_home_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a home directory nothing is remembered."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert user_cache() is None


def test_no_secret_is_remembered(folder: Path) -> None:
    """A value that looks like a secret is in no entry of the cache."""
    secret = "sk-" + "abcdefghij0123456789"
    (folder / ".mcp.json").write_text(MCP.replace("${TOKEN}", f"Bearer {secret}"), encoding="utf-8")
    assert any(found.rule.code == "OCT340" for found in check_workspace(folder).diagnostics)
    kept = workspace_cache(folder)
    assert kept is not None
    entries = [entry.read_text(encoding="utf-8") for entry in kept.rglob("*.json")]
    assert entries
    assert not any(secret in entry for entry in entries)


def test_a_check_that_is_known_loads_nothing_heavy(folder: Path) -> None:
    """A check without changes loads no parser of positions, no schema validator, no YAML, no routing and no numbers."""
    heavy = "jsonschema referencing yaml tree_sitter sklearn numpy octoc.compiler.pipeline octoc.routing.clean mcp"
    script = (
        "import sys; from octoc.cli import main; main(['check', '--workspace', sys.argv[1]]);"
        f"print([name for name in {heavy.split()!r} if name in sys.modules], file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    for loaded in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True, env=environment
        )
        assert (done.stderr.splitlines()[-1] != "[]") is loaded
