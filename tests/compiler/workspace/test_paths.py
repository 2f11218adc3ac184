"""Finding a workspace from a folder inside it, and how its paths are written."""

from pathlib import Path

import pytest

from octoc.compiler.inputs.project import find_bare_workspace
from octoc.compiler.workspace.paths import display_of, display_path, find_workspace


def test_the_nearest_folder_with_an_octoc_toml_is_the_workspace(tmp_path: Path) -> None:
    """A folder, and each folder below it, finds the nearest `octoc.toml`; a folder of that name does not count."""
    (tmp_path / "octoc.toml").write_text("")
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "octoc.toml").mkdir()
    assert find_workspace(deep) == tmp_path
    (tmp_path / "a" / "octoc.toml").write_text("")
    assert find_workspace(deep) == tmp_path / "a"


def test_a_folder_with_only_an_mcp_file_is_a_bare_workspace(tmp_path: Path) -> None:
    """Without an `octoc.toml` the nearest `.mcp.json` counts."""
    (tmp_path / ".mcp.json").write_text("{}")
    (tmp_path / "src").mkdir()
    assert find_bare_workspace(tmp_path / "src") == tmp_path
    assert find_workspace(tmp_path / "src") is None


def test_other_clients_files_make_a_workspace_of_their_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client's file counts in the folder and in its repository, and neither above it nor in the home folder."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    for folder in (tmp_path, project):
        (folder / ".codex").mkdir()
        (folder / ".codex/config.toml").write_text("[mcp_servers.a]\ncommand = 'a'\n")
    assert find_bare_workspace(project) == project
    assert find_bare_workspace(project / "src") is None
    (project / ".git").mkdir()
    assert find_bare_workspace(project / "src") == project
    (project / ".codex/config.toml").write_text("model = 'm'\n")
    assert find_bare_workspace(project) is None
    (tmp_path / ".git").mkdir()
    assert find_bare_workspace(tmp_path) is None


@pytest.mark.parametrize(
    "path,expected",
    [
        ("/w/agents/a.md", "agents/a.md"),
        ("agents/../x.md", "x.md"),
        ("/w", "."),
        ("/w2/x", "/w2/x"),
        ("/other/a", "/other/a"),
    ],
)
def test_a_path_is_shown_relative_to_the_workspace_when_it_is_inside(path: str, expected: str) -> None:
    """Inside the workspace paths are relative to it, else absolute."""
    assert display_path(Path("/w"), Path(path)) == expected


@pytest.mark.parametrize(
    "written,inside,expected",
    [
        ("taps/acme", ("deps",), "taps/acme/deps"),
        ("./taps/../taps/acme", (), "taps/acme"),
        ("../shared", ("a", "b.toml"), "../shared/a/b.toml"),
        ("/opt/tap/", ("a",), "/opt/tap/a"),
        (".", (), "."),
    ],
)
def test_a_path_outside_is_shown_as_it_was_written(written: str, inside: tuple[str, ...], expected: str) -> None:
    """What a user wrote for a folder outside is kept, and joined with what is in it."""
    assert display_of(Path("/w"), written, *inside) == expected
