"""Names of servers in a provider's file that no capability resolves."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.paths import check_paths
from octoc.diagnostics.rule import Severity

TAP = '[workspace]\nname = "acme"\n\n[[taps]]\nname = "acme"\npath = "taps/acme"\n'
SERVER = (
    '[[mcp.servers]]\nname = "exa"\ntype = "stdio"\ncommand = "exa-mcp"\nargs = []\ntimeout_seconds = 30\ntools = []\n'
)


def provider(refs: str, patterns: str, server: str = SERVER) -> str:
    """The text of a provider with one server."""
    roles = f"[roles.mcp]\nserver_refs = [{refs}]\nallowed_tools = [{patterns}]\n\n"
    return f"# Title: Web search\n# Description: Searches the web\n\n{roles}{server}"


@pytest.mark.parametrize(
    "refs, patterns, says",
    [
        ('"exo"', '"exa:*"', ["`server_refs` names server `exo`, which this file does not define"]),
        ('"exa"', '"exo:*", "search"', ["pattern `exo:*` names server `exo`, which this file does not have"]),
        ('"exo"', '"exu:*"', ["`server_refs` names server `exo`", "pattern `exu:*` names server `exu`"]),
    ],
)
def test_a_provider_by_itself_names_its_own_servers(tmp_path: Path, refs: str, patterns: str, says: list[str]) -> None:
    """A name without a definition in the file is a warning at its line, with a near name."""
    (tmp_path / "web.toml").write_text(provider(refs, patterns), encoding="utf-8")
    checked = check_paths([tmp_path / "web.toml"], tmp_path, kind="capability-provider", use_cache=False)
    found = [one for one in checked.diagnostics if one.rule.code == "OCT766"]
    assert len(found) == len(says)
    for one, text in zip(found, says, strict=True):
        assert one.message.startswith(text)
        assert one.severity == Severity.WARNING
        assert one.help == "did you mean `exa`?"
        assert one.span is not None
        assert one.span.line == (5 if "server_refs" in text else 6)


@pytest.mark.parametrize(
    "refs, patterns, server",
    [('"exa"', '"exa:search", "search"', SERVER), ('"gone"', '"gone:*"', ""), ("", '"gone:*"', "")],
)
def test_a_server_that_may_be_elsewhere(tmp_path: Path, refs: str, patterns: str, server: str) -> None:
    """A file without definitions may be about servers of the user's own settings."""
    (tmp_path / "web.toml").write_text(provider(refs, patterns, server), encoding="utf-8")
    checked = check_paths([tmp_path / "web.toml"], tmp_path, kind="capability-provider", use_cache=False)
    assert "OCT766" not in {one.rule.code for one in checked.diagnostics}


def test_a_provider_that_is_not_chosen(lint: Callable[..., Any]) -> None:
    """The chosen provider is OCT320, the other one OCT766; a server of the workspace may be referred to."""
    folder = "taps/acme/capabilities/web"
    files = {
        "octoc.toml": TAP,
        f"{folder}/config.toml": 'triggers = ["a", "b", "c"]\n',
        f"{folder}/default.toml": provider('"exa"', '"exo:*"'),
        f"{folder}/other.toml": provider('"exa", "notes"', '"exi:*"'),
    }
    linted = lint(files, servers={"notes": {"command": "x"}})
    assert linted.shown("OCT320", "OCT766") == [("OCT320", '"exo:*"'), ("OCT766", '"exi:*"')]
