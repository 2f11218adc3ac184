"""Tokens: only digests are kept, for their user alone, outside workspaces."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from octoc.plugin.gateway import GatewayRefused
from octoc_serve.tokens import Tokens, bearer_of, default_file


def test_only_a_digest_is_kept_for_the_user_alone(tmp_path: Path) -> None:
    """The file is 0600, has no token in it, and knows each token again until it is revoked."""
    tokens = Tokens(tmp_path / "state" / "tokens.json")
    first, text = tokens.add("clerk", "acme")
    second, other = tokens.add("supervisor")
    assert stat.S_IMODE(tokens.file.stat().st_mode) == 0o600
    assert text not in tokens.file.read_text(encoding="utf-8")
    assert tokens.entries() == (first, second)
    assert bearer_of(tokens.read(), text) == first
    assert bearer_of(tokens.read(), other) == second
    assert bearer_of(tokens.read(), text[:-1]) is None
    assert tokens.revoke(first.id)
    assert not tokens.revoke(first.id)
    assert bearer_of(tokens.read(), text) is None


@pytest.mark.parametrize(
    "content,mode,reason",
    [
        ('{"version": 1, "tokens": []}', 0o644, "mode 644: expected 600"),
        ("{", 0o600, "is no JSON"),
        ('{"version": 2, "tokens": []}', 0o600, "version 2: expected 1"),
        ('{"version": 1}', 0o600, "not one that octoc wrote"),
        ("[]", 0o600, "not one that octoc wrote"),
    ],
)
def test_a_file_that_cannot_be_trusted_is_refused(tmp_path: Path, content: str, mode: int, reason: str) -> None:
    """A file that others can read, or that octoc did not write, is refused, and is not written over."""
    file = tmp_path / "tokens.json"
    file.write_text(content, encoding="utf-8")
    file.chmod(mode)
    for work in (Tokens(file).read, lambda: Tokens(file).add("clerk")):
        with pytest.raises(GatewayRefused, match=reason):
            work()
    assert file.read_text(encoding="utf-8") == content


def test_no_token_is_kept_in_a_workspace(tmp_path: Path) -> None:
    """A file inside the workspace is refused, also behind a link."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "ws")
    for file in (tmp_path / "ws" / "tokens.json", tmp_path / "link" / "tokens.json"):
        with pytest.raises(GatewayRefused, match="inside the workspace"):
            Tokens(file, tmp_path / "ws")


def test_the_users_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name the file is below the user's state folder; a relative one counts as none."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_file() == tmp_path / "octoc/serve/tokens.json"
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_file() == tmp_path / ".local/state/octoc/serve/tokens.json"
