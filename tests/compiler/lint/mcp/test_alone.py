"""Rules over definitions of servers where one file is checked by itself."""

from pathlib import Path

from octoc.compiler.checkup.paths import check_paths


def test_a_provider_by_itself(tmp_path: Path) -> None:
    """A mistake in a definition is reported without the tap that its file belongs to."""
    provider = tmp_path / "clock.toml"
    provider.write_text(
        '# Title: Clock\n# Description: Clocks.\n\n[roles.mcp]\nserver_refs = ["clock"]\n\n[[mcp.servers]]\n'
        'name = "clock"\ntype = "stdio"\ncommand = "$HOME/clock"\nargs = []\ntimeout_seconds = 30\ntools = []\n',
        encoding="utf-8",
    )
    checked = check_paths([provider], tmp_path, kind="capability-provider", use_cache=False)
    assert "OCT440" in {found.rule.code for found in checked.diagnostics}
