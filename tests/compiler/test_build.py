"""Building again: what is remembered of the last build never hides what has changed since."""

from pathlib import Path

from octoc.compiler.build import build


def _codes(root: Path) -> list[str]:
    return [found.rule.code for found in build(root).diagnostics]


def test_a_path_that_comes_to_be_and_may_not_be_read_is_not_told_as_missing(tmp_path: Path) -> None:
    """A second build sees that a named file is there now, although it may read it as little as before."""
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "octoc.toml").write_text('[workspace]\nname = "acme"\n[mcp]\nfiles = ["../servers.json"]\n', "utf-8")
    assert _codes(root) == ["OCT121"]
    (tmp_path / "servers.json").write_text('{"mcpServers": {}}', "utf-8")
    assert _codes(root) == ["OCT123"]


def test_a_link_that_leads_elsewhere_now_is_told_anew(tmp_path: Path) -> None:
    """A second build sees that a broken link leads out of its tap now."""
    folder = tmp_path / "workspace" / "taps" / "acme" / "capabilities" / "notes"
    folder.mkdir(parents=True)
    root = tmp_path / "workspace"
    (root / "octoc.toml").write_text(
        '[workspace]\nname = "acme"\n[[taps]]\nname = "acme"\npath = "taps/acme"\n', "utf-8"
    )
    (folder / "config.toml").write_text('triggers = ["take a note"]\n', "utf-8")
    (folder / "default.toml").symlink_to(tmp_path / "provider.toml")
    assert "OCT122" in _codes(root)
    (tmp_path / "provider.toml").write_text("", "utf-8")
    assert "OCT123" in _codes(root)
