"""Where clients look for skills in a project."""

SKILL_FOLDERS = (".octo/skills", ".agents/skills", ".claude/skills")
