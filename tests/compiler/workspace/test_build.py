"""Building again: what is remembered of the last build never hides what has changed since."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from octoc.bundle.digest import sha256_hex
from octoc.compiler.cache import build_cache
from octoc.compiler.cache.store import Cache, workspace_cache
from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.workspace import build as build_module
from octoc.compiler.workspace.build import build


def _codes(root: Path) -> list[str]:
    return [found.rule.code for found in build(root).diagnostics]


def test_a_path_that_comes_to_be_and_may_not_be_read_is_not_told_as_missing(tmp_path: Path) -> None:
    """A second build sees that a named file is there now, although it may read it as little as before."""
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "octoc.toml").write_text('[workspace]\nname = "acme"\n[mcp]\nfiles = ["../servers.json"]\n', "utf-8")
    assert _codes(root) == ["OCT608", "OCT121"]
    (tmp_path / "servers.json").write_text('{"mcpServers": {}}', "utf-8")
    assert _codes(root) == ["OCT608", "OCT123"]


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


def test_a_lock_that_may_not_be_read_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that the system refuses to read is a finding."""
    (tmp_path / "octoc.toml").write_text('[workspace]\nname = "acme"\n', "utf-8")
    assert _codes(tmp_path) == []
    real_open, real_read = os.open, Path.read_bytes

    def refused(path: object, *args: object, **kwargs: object) -> int:
        if str(path).endswith("octoc.lock"):
            raise PermissionError(13, "Permission denied", str(path))
        return real_open(path, *args, **kwargs)  # type: ignore[arg-type]

    def unread(path: Path) -> bytes:
        if path.name == "octoc.lock":
            raise PermissionError(13, "Permission denied", str(path))
        return real_read(path)

    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr(Path, "read_bytes", unread)
    assert "OCT502" in _codes(tmp_path)


def test_no_pipe_is_waited_for(tmp_path: Path) -> None:
    """Pipes in the places of the lock, a snapshot and a default provider are findings, of a build and of a check."""
    capability = tmp_path / "taps" / "acme" / "capabilities" / "notes"
    for folder in (capability, tmp_path / "snapshots"):
        folder.mkdir(parents=True)
    (tmp_path / "octoc.toml").write_text(
        '[workspace]\nname = "acme"\n[[taps]]\nname = "acme"\npath = "taps/acme"\n', "utf-8"
    )
    (capability / "config.toml").write_text('triggers = ["take a note"]\n', "utf-8")
    for pipe in (tmp_path / "octoc.lock", tmp_path / "snapshots" / "notes.json", capability / "default.toml"):
        os.mkfifo(pipe)
    unread = {found.span.file for found in check_workspace(tmp_path).diagnostics if found.span is not None}
    assert unread >= {"snapshots/notes.json", "taps/acme/capabilities/notes/default.toml"}
    assert "OCT502" in _codes(tmp_path)


@pytest.fixture
def forged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with an error, a foreign bundle in `dist/`, and a cache entry that calls both what was built."""
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "octoc.toml").write_text('[workspace]\nname = "acme"\n[mcp]\nfiles = ["gone.json"]\n', "utf-8")
    skill = root / ".agents" / "skills" / "tidy" / "SKILL.md"  # what is left when the error excludes its file
    skill.parent.mkdir(parents=True)
    front = "name: tidy\ndescription: Tidies a folder up\nrules: content(tidy)\ndomains: office"
    skill.write_text(f"---\n{front}\n---\nTidy up.\n", "utf-8")
    foreign = build(root).bundle
    assert foreign is not None
    foreign.write_bytes(b"foreign")
    with monkeypatch.context() as entry:

        def remember(cache: Cache, key: str, _: build_cache.CachedOutcome) -> None:
            foreign = build_cache.CachedOutcome(bundle_digest=sha256_hex(b"foreign"), bundle_size=7, **lock)
            build_cache.remember(cache, key, foreign)

        data = (root / "octoc.lock").read_bytes()
        lock: dict[str, Any] = {"lock_digest": sha256_hex(data), "lock_size": len(data)}
        entry.setattr(build_module, "remember", remember)
        build(root)
    foreign.write_bytes(b"foreign")
    assert build(root).unchanged  # the forged entry works where it is believed
    return root


def test_a_bundle_that_a_repository_brings_with_a_cache_is_built_anew(forged: Path) -> None:
    """An entry in the workspace that vouches for a foreign bundle is not read."""
    kept = workspace_cache(forged)
    assert kept is not None
    for place in (".octoc/cache", ".cache/octoc"):
        shutil.copytree(kept, forged / place)
    shutil.rmtree(kept)
    outcome = build(forged)
    assert [found.rule.code for found in outcome.diagnostics] == ["OCT121"]
    assert (forged / "dist" / "acme.octoc").read_bytes() != b"foreign"


def test_no_cache_and_locked_read_no_entry(forged: Path) -> None:
    """`--locked` and `--no-cache` find what is there, although the user's own cache says otherwise."""
    held = build(forged, locked=True)
    assert "OCT121" in [found.rule.code for found in held.diagnostics]
    assert (forged / "dist" / "acme.octoc").read_bytes() == b"foreign"
    assert [found.rule.code for found in build(forged, use_cache=False).diagnostics] == ["OCT121"]
    assert (forged / "dist" / "acme.octoc").read_bytes() != b"foreign"


@pytest.mark.parametrize("name", ["a\\u0000b", "n" * 300, "d/" * 3000])
def test_what_no_file_can_be_called_is_not_there(tmp_path: Path, name: str) -> None:
    """A path that the system refuses to look up is reported as missing, in every setting that takes a path."""
    lists = {"mcp": "files", "agents": "paths", "skills": "paths", "scopes": "paths", "routing": "fixtures"}
    lines = [f'[{section}]\n{key} = ["{name}"]\n' for section, key in lists.items()]
    text = f'[workspace]\nname = "acme"\n[[taps]]\nname = "t"\npath = "{name}"\n{"".join(lines)}'
    (tmp_path / "octoc.toml").write_text(f'{text}[routing.encoder_settings]\npath = "{name}"\n', "utf-8")
    found = [found for found in build(tmp_path).diagnostics if found.severity.label == "error"]
    assert {found.rule.code for found in found} <= {"OCT101", "OCT120", "OCT121"}
    assert sum(found.rule.code == "OCT121" for found in found) == len(lists)
