"""Skills: `<skill>/SKILL.md` in a tap, or in a folder of skills of a project."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from octoc.plugin.file_kinds import ANY, FileKind

SKILL_FOLDERS = (".octo/skills", ".agents/skills", ".claude/skills")
"""Where clients look for skills in a project."""
FOLDER_OF_AGENTS = {"claude": ".claude/skills"}
"""Where a dialect of agents has its skills; all others share `SHARED_FOLDER`."""
SHARED_FOLDER = ".agents/skills"

SKILL_FILE = "SKILL.md"
PROSE_FILES = frozenset({"AGENTS.md", "CLAUDE.md", "README.md"})
"""Markdown for people and models that defines nothing."""


_STRICT_FOLDERS = frozenset({".octo", ".agents"})


def needs_front_matter(display: str, tap: str | None) -> bool:
    """Tell whether the clients of a skill skip it without `name` and `description`.

    Octomind, Octo and Codex do. Claude Code takes the folder's name and the first paragraph instead.
    Source: Claude Code, skills, frontmatter reference; Codex, skills.
    """
    return tap is not None or not _STRICT_FOLDERS.isdisjoint(PurePosixPath(display).parts)


def first_paragraph(body: str) -> str:
    """Return the first paragraph of Markdown on one line, headings left out."""
    paragraphs = (" ".join(part.split()) for part in body.replace("\r\n", "\n").split("\n\n"))
    return next((part for part in paragraphs if part and not part.startswith("#")), "")


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
    bare="octoc.compiler.read.bare_skill:read_bare_skill",
    check="octoc.compiler.check.markdown:check_skill",
    definitions=frozenset({SKILL_FILE}),
    patterns=(SKILL_FILE,),
    recognize=is_skill,
    other_names=PROSE_FILES,
    key=lambda path: {"skill": path.parent.name},
    structure="octoc.compiler.structure.markdown:skill_source",
)
