"""Where skills lie: in folders of clients, in groups, in the root, or in any other folder."""

from pathlib import Path

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.rule import Severity

SLIP = "---\nname: notes\ndescripton: Takes notes\n---\n\nWrite.\n"
SOUND = "---\nname: notes\ndescription: Takes notes\n---\n\nWrite.\n"


def _found(root: Path, *paths: str, text: str = SLIP) -> dict[str, set[str]]:
    """Return the files with findings above information, by rule."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    found: dict[str, set[str]] = {}
    for one in check_target(CheckTarget(root=root, folder=root), use_cache=False).diagnostics:
        if one.span and one.severity > Severity.INFO:
            found.setdefault(one.rule.code, set()).add(one.span.file)
    return found


@pytest.mark.parametrize(
    "path, is_read",
    [
        ("skills/notes/SKILL.md", True),
        ("skills/office/notes/SKILL.md", True),
        ("skills/office/minutes/notes/SKILL.md", True),
        ("plugins/kit/skills/office/notes/SKILL.md", True),
        (".agents/skills/office/notes/SKILL.md", True),
        (".opencode/skills/office/notes/SKILL.md", True),
        ("SKILL.md", True),
        ("notes/SKILL.md", True),
        ("library/office/notes/SKILL.md", True),
        ("skills/fixtures/notes/SKILL.md", False),
        ("skills/_drafts/notes/SKILL.md", False),
        (".claude/old-skills/notes/SKILL.md", False),
        ("node_modules/kit/skills/notes/SKILL.md", False),
    ],
)
def test_where_a_skill_is_read(path: str, is_read: bool, tmp_path: Path) -> None:
    """A skill is read in groups and in any folder of its own, and not in fixtures, drafts and packages."""
    assert _found(tmp_path, path).get("OCT208", set()) == ({path} if is_read else set())


@pytest.mark.parametrize(
    "paths",
    [
        ("skills/notes/SKILL.md", "skills/notes/modes/short/SKILL.md"),
        ("notes/SKILL.md", "notes/modes/short/SKILL.md"),
    ],
)
def test_what_lies_in_a_skill_is_a_part_of_it(paths: tuple[str, str], tmp_path: Path) -> None:
    """A SKILL.md below that of another skill is not read by itself."""
    assert _found(tmp_path, *paths)["OCT208"] == {paths[0]}


def test_prose_elsewhere_is_left_alone(tmp_path: Path) -> None:
    """Outside of folders of skills a SKILL.md without front matter may be any text."""
    assert _found(tmp_path, "notes/SKILL.md", text="# Notes\n") == {}


@pytest.mark.parametrize(
    "paths, lost",
    [
        ((".claude/skills/office/notes/SKILL.md", ".claude/skills/office/plan/SKILL.md"), 0),
        ((".gemini/skills/office/notes/SKILL.md",), 0),
        ((".claude/skills/notes/SKILL.md", ".claude/skills/notes/short/SKILL.md"), None),
        ((".agents/skills/office/notes/SKILL.md",), None),
    ],
)
def test_a_client_that_finds_no_skill_in_a_group(paths: tuple[str, ...], lost: int | None, tmp_path: Path) -> None:
    """One warning names the skills of a folder that its client does not find because they lie one folder too deep."""
    expected = set() if lost is None else {paths[lost]}
    assert _found(tmp_path, *paths, text=SOUND).get("OCT130", set()) == expected


def test_a_link_makes_a_skill_of_a_group_known(tmp_path: Path) -> None:
    """A skill in a group is found where a link beside the group leads to it."""
    (tmp_path / ".claude/skills").mkdir(parents=True)
    (tmp_path / ".claude/skills/notes").symlink_to("office/notes")
    assert "OCT130" not in _found(tmp_path, ".claude/skills/office/notes/SKILL.md", text=SOUND)


@pytest.mark.parametrize(
    "folder, name, severities",
    [
        (".roo", "minutes", {Severity.ERROR}),
        (".clinerules", "Take Notes", {Severity.ERROR}),
        (".roo", "notes", set()),
        (".agents", "Take Notes", {Severity.WARNING}),
        (".agents", "minutes", {Severity.INFO}),
        (".claude", "Take Notes", {Severity.INFO}),
    ],
)
def test_a_name_that_is_not_the_folder_s(folder: str, name: str, severities: set[Severity], tmp_path: Path) -> None:
    """A name is an error where the client skips the skill, a warning where one of several does, else information."""
    path = tmp_path / folder / "skills/notes/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(SOUND.replace("name: notes", f"name: {name}"), encoding="utf-8")
    found = check_target(CheckTarget(root=tmp_path, folder=tmp_path), use_cache=False).diagnostics
    assert {one.severity for one in found} == severities
