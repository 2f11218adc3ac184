"""Skills: `<skill>/SKILL.md` in a tap, or in a folder of skills of a project."""

from collections.abc import Mapping
from typing import Any

from octoc.plugin.file_kinds import ANY, FileKind

SKILL_FOLDERS = (".octo/skills", ".agents/skills", ".claude/skills")
"""Where clients look for skills in a project."""

SKILL_FILE = "SKILL.md"
PROSE_FILES = frozenset({"AGENTS.md", "CLAUDE.md", "README.md"})
"""Markdown for people and models that defines nothing."""


def is_skill(keys: Mapping[str, Any]) -> bool:
    """Tell whether front matter with these keys is a skill's."""
    return not {"allowed-tools", "rules", "compatibility", "license"}.isdisjoint(keys)


SKILL = FileKind(
    name="skill",
    role="skills",
    syntax="markdown",
    units=(
        ("title",),
        ("license",),
        ("compatibility",),
        ("metadata",),
        ("domains",),
        ("domains", ANY),
        ("rules",),
        ("rules", ANY),
        ("capabilities", ANY),
        ("allowed-tools", ANY),
    ),
    check="octoc.compiler.check.markdown:check_skill",
    definitions=frozenset({SKILL_FILE}),
    patterns=(SKILL_FILE,),
    recognize=is_skill,
    other_names=PROSE_FILES,
    key=lambda path: {"skill": path.parent.name},
    is_in_tap=True,
    structure="octoc.compiler.structure.markdown:skill_source",
)
