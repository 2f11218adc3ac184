"""The page on skills, done: its skill is found, built, and used by its own loop."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from octoc.bundle.model import SkillSettings
from octoc.compiler.structure.settings import load_settings
from octoc.compiler.workspace.build import build
from octoc.diagnostics.model import DiagnosticSink
from octoc.plugin.manager import plugins_of
from octoc.routing.skill_rules import CHECKS
from octoc.runtime import Runtime
from octoc.runtime.skills import workdir

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "skills.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """Return the page's one block of a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_pages_skill_is_used_by_the_pages_loop(tmp_path: Path) -> None:
    """A message that meets a line of the page's skill gets its text, and the tool block stays as it is."""
    folder = tmp_path / ".agents/skills/release-notes"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(block("markdown"), encoding="utf-8")
    (tmp_path / "octoc.toml").write_text('[workspace]\nname = "page"\n', encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text("", encoding="utf-8")
    outcome = build(tmp_path, plugins=plugins_of(), allow_degraded=True)
    # The workspace does not define the page's capability.
    assert {one.rule.code for one in outcome.diagnostics if one.severity.name == "ERROR"} == {"OCT304"}
    assert outcome.bundle is not None
    program: dict[str, Any] = {}
    exec(block("python"), program)  # noqa: S102  # the project's own page

    async def scenario() -> None:
        assert outcome.bundle is not None
        async with Runtime.open(outcome.bundle, plugins=plugins_of(), workspace=tmp_path) as runtime:
            session = runtime.session(workdir=tmp_path)
            before = session.tools()
            conversation: list[dict[str, str]] = []
            assert await program["turn"](session, conversation, "hello, how are you today?") == []
            used = await program["turn"](session, conversation, "please update the Changelog for me")
            assert used == [("release-notes", r"match((?i)\bchangelog\b) file(CHANGELOG.md)")]
            assert "One line a change" in conversation[-1]["content"]
            assert session.tools() == before
            assert [tool["name"] for tool in before] == ["find_tools", "call_mcp_tool", "skill", "read_result"]

    asyncio.run(scenario())


def test_every_check_is_explained() -> None:
    """Each check of a skill's rules stands in the page's table, and the limits are those of the code."""
    assert [check for check in CHECKS if f"`{check}(" not in PAGE] == []
    assert workdir.MAX_SECONDS == 1.0
    assert f"{workdir.MAX_ENTRIES:,} entries" in PAGE
    assert f"{workdir.MAX_BYTES // 2**20} MiB" in PAGE


def test_the_settings_are_sound(tmp_path: Path) -> None:
    """The page's `[skills]` has no finding and, except for `validate`, the default values."""
    tmp_path.joinpath("octoc.toml").write_text(f'[workspace]\nname = "page"\n\n{block("toml")}', encoding="utf-8")
    sink = DiagnosticSink()
    settings = load_settings(tmp_path, sink)
    assert settings is not None
    assert sink.diagnostics == ()
    usual = SkillSettings()
    assert (settings.skills.validate, usual.validate) == ("run", "never")
    assert settings.skills.validate_timeout == usual.validate_timeout_s
    assert settings.skills.max_retries == usual.max_retries
