"""The pages of the plugin: their example builds, and their tables are complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import attrs
import pytest

import octoc_tools_files
from octoc.compiler import build
from octoc.plugin import plugins_of
from octoc.runtime import Runtime
from octoc_tools_files import settings, texts
from octoc_tools_files.settings import FileToolSettings

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "tools-files.md").read_text(encoding="utf-8")
README = (ROOT / "plugins" / "octoc-tools-files" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [PAGE, README], ids=["page", "README"])
def test_the_example(tmp_path: Path, text: str) -> None:
    """The lines of the page give the agent of a workspace the five tools."""
    (example,) = re.findall(r"```toml.*?\n(.*?\[servers\.files\].*?)```", text, re.DOTALL)
    (tmp_path / "octoc.toml").write_text(example, encoding="utf-8")
    outcome = build(tmp_path, plugins=plugins_of(octoc_tools_files), allow_degraded=True)
    assert outcome.bundle is not None
    runtime = Runtime.open(outcome.bundle, plugins=plugins_of(octoc_tools_files))
    names = {str(tool["name"]) for tool in runtime.session().tools("mcp")}
    assert {f"files__{name}" for name in ("Read", "Grep", "Glob", "Edit", "Bash")} <= names


def test_every_setting_is_on_the_page() -> None:
    """The table has each setting with its default."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \| ", PAGE.partition("## Settings")[2], re.MULTILINE))
    shown: dict[Any, str] = {text: f'`"{text}"`' for text in (".", ".octo/workspace")}
    shown |= {(): "none", False: "`false`"}
    for field in attrs.fields(FileToolSettings):
        assert rows[field.name] == shown.get(field.default, f"`{field.default}`"), field.name
    assert settings.ANY_PROGRAM == "*"


def test_the_limits_on_the_page() -> None:
    """The limits of Octo are those of the page."""
    limits = (texts.MAX_LINES, texts.MAX_CHARS, texts.MAX_FOUND, texts.MAX_MATCHES)
    assert limits == (2000, 50_000, 500, 200)
    assert "2,000 lines and 50,000 characters" in PAGE
    assert "500 entries" in PAGE
