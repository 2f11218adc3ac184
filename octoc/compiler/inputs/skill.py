"""Skills: `<skill>/SKILL.md` in a tap, or in a folder of skills of a project."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import attrs

from octoc.plugin.file_kinds import ANY, FileKind

SKILL_FOLDERS = (".octo/skills", ".agents/skills", ".claude/skills")
"""Where clients look for skills in a project."""
FOLDER_OF_AGENTS = {"claude": ".claude/skills"}
"""Where a dialect of agents has its skills; all others share `SHARED_FOLDER`."""
SHARED_FOLDER = ".agents/skills"

SKILL_FILE = "SKILL.md"
PROSE_FILES = frozenset({"AGENTS.md", "CLAUDE.md", "README.md"})
"""Markdown for people and models that defines nothing."""


@attrs.frozen(kw_only=True)
class SkillClient:
    """What the client of a folder of skills does with a SKILL.md.

    Args:
        needs: the keys without which the client skips the skill.
        wants: keys that its documentation requires; what it does without them is unknown.
        max_description: how many characters of a description it reads; 0 is all.
        too_long: what it does with a longer one.
        calls_by_folder: it calls the skill as its folder, whatever `name` says.
        is_shared: other clients read the folder, too.
        takes_any_front_matter: it reads a skill whose front matter is not YAML.
        refuses_mark: it skips a file that begins with a byte order mark.
        wants_folder_name: it skips a skill whose name is not that of its folder.
        is_flat: it finds no skill in a group, `<group>/<skill>/SKILL.md`.
    """

    client: str
    needs: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    max_description: int = 0
    too_long: str = ""
    calls_by_folder: bool = False
    is_shared: bool = False
    takes_any_front_matter: bool = False
    refuses_mark: bool = False
    wants_folder_name: bool = False
    is_flat: bool = False


_BOTH = ("name", "description")
_NO_MORE = "the Agent Skills specification allows no more"

OCTOMIND = SkillClient(client="Octomind", needs=_BOTH)
_ANY = SkillClient(client="Claude Code", calls_by_folder=True, takes_any_front_matter=True)
_SPECIFICATION = SkillClient(client="the Agent Skills specification", wants=_BOTH)
"""A client whose rules octoc does not know."""
_CODEX = SkillClient(client="Codex", needs=("description",), max_description=1024, too_long="Codex skips the skill")
_CLINE = SkillClient(client="Cline", needs=_BOTH, takes_any_front_matter=True, wants_folder_name=True, is_flat=True)
# Source: Claude Code 2.1, skills, frontmatter reference; Codex, `core-skills/src/loader.rs` (June 2026); Gemini CLI
# 0.56, `skillLoader.ts`; Cline, `skills.ts`, and Roo Code, `SkillsManager.ts` (read in their repositories); OpenCode
# 1.17, `skill/index.ts`; Visual Studio Code 1.109 and Kiro, agent skills.
_CLIENTS = {
    ".claude": SkillClient(
        client="Claude Code",
        max_description=1536,
        too_long="its model does not see the rest",
        calls_by_folder=True,
        takes_any_front_matter=True,
        is_flat=True,
    ),
    ".octo": SkillClient(client="Octo", needs=_BOTH),
    ".agents": attrs.evolve(_CODEX, is_shared=True),
    ".codex": _CODEX,
    ".gemini": SkillClient(
        client="Gemini CLI", needs=_BOTH, takes_any_front_matter=True, refuses_mark=True, is_flat=True
    ),
    ".opencode": SkillClient(client="OpenCode", needs=_BOTH),
    ".github": SkillClient(client="GitHub Copilot", wants=_BOTH, max_description=1024, too_long=_NO_MORE),
    ".kiro": SkillClient(client="Kiro", wants=_BOTH, max_description=1024, too_long=_NO_MORE),
    ".cursor": SkillClient(client="Cursor", wants=_BOTH),
    ".qwen": SkillClient(client="Qwen Code", needs=_BOTH),
    ".clinerules": _CLINE,
    ".cline": _CLINE,
    ".roo": SkillClient(
        client="Roo Code",
        needs=_BOTH,
        max_description=1024,
        too_long="Roo Code skips the skill",
        wants_folder_name=True,
        is_flat=True,
    ),
    ".factory": SkillClient(client="Factory", wants=_BOTH),
}
"""By the folder of a client in which a skill lies; `.agents` is shared by several."""
MAX_NAME = 64
"""Characters of a name, by the Agent Skills specification."""


def skill_client(display: str, tap: str | None) -> SkillClient:
    """Return the client of the innermost folder of a client around a skill; in no hidden folder, Claude Code."""
    if tap:
        return OCTOMIND
    folders = [part for part in reversed(PurePosixPath(display).parts) if part.startswith(".")]
    known = next((part for part in folders if part in _CLIENTS), "")
    return _CLIENTS[known] if known else _SPECIFICATION if folders else _ANY


def is_of_client(display: str) -> bool:
    """Tell whether a skill lies in a hidden folder, as those of clients do."""
    return any(part.startswith(".") for part in PurePosixPath(display).parts)


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
    patterns=(SKILL_FILE,),
    recognize=is_skill,
    other_names=PROSE_FILES,
    tool_rules=("allowed-tools", "disallowed-tools"),
    key=lambda path: {"skill": path.parent.name},
    structure="octoc.compiler.structure.markdown:skill_source",
)
