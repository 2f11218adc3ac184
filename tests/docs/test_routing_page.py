"""The page on routing, done: its settings and files are sound, its commands work, its plugin is asked."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.expand.ask_plugins import expand
from octoc.compiler.workspace.build import resolve_workspace
from octoc.diagnostics.model import DiagnosticSink
from octoc.plugin.manager import plugins_of

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "docs" / "routing.md").read_text(encoding="utf-8")
WORKSPACE = (
    '[workspace]\nname = "page"\n\n[[taps]]\nname = "core"\npath = "octoc:core"\n\n[providers]\ntime = "installed"\n'
)


def blocks(info: str) -> list[str]:
    """Return the page's fenced blocks that begin so."""
    return re.findall(rf"^```{info}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def workspace(root: Path, settings: str = "") -> Path:
    """Write the core tap's workspace with the page's files."""
    files = {"octoc.toml": settings + WORKSPACE}
    files |= {"snapshots/time.json": (CHECKOUT / "examples/demo/snapshots/time.json").read_text(encoding="utf-8")}
    for title, text in re.findall(r'^```\w+ title="(.*?)"\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL):
        files[title] = text
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("settings", blocks("toml"))
def test_the_pages_settings_and_files_are_sound(settings: str, tmp_path: Path) -> None:
    """Nothing is found in a workspace with the page's settings, needs and background."""
    found = check_workspace(workspace(tmp_path, settings), use_cache=False).diagnostics
    assert [
        one.message for one in found if "routing" in one.message or one.span is None or "routing" in one.span.file
    ] == []
    build, _, _ = resolve_workspace(tmp_path, plugins=plugins_of())
    assert build is not None
    assert [need.name for need in build.resolved.needs] == ["rooms"]
    assert build.sources.background == ("how is the canteen today",)


def test_the_pages_commands_work(octoc: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of the page ends well, and the explanation names the capability that the message is for."""
    workspace(tmp_path)
    monkeypatch.chdir(tmp_path)
    for line in "".join(blocks("sh")).splitlines():
        done = octoc(*shlex.split(line)[1:])
        assert done.status == 0, f"{line}\n{done.out}{done.err}"
    assert "time" in done.out


def test_the_pages_plugin_is_asked(tmp_path: Path) -> None:
    """The page's plugin answers, and what it says is in the file that the page names."""
    workspace(tmp_path)
    (program,) = blocks("python")
    module: dict[str, Any] = {}
    exec(program, module)  # noqa: S102  # the project's own page
    plugin = type("Plugin", (), {"octoc_expand_triggers": staticmethod(module["octoc_expand_triggers"])})
    build, _, _ = resolve_workspace(tmp_path, plugins=plugins_of())
    assert build is not None
    outcome = expand(build, tmp_path, plugins_of(plugin()), DiagnosticSink(), names=["time"])
    assert outcome.asked[0].new
    assert "could you please" in (tmp_path / "routing/expanded.toml").read_text(encoding="utf-8")
