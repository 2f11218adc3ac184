"""Claude Code's subagents."""

from octoc.compiler.inputs.agents.octo import AGENT_FILE
from octoc.plugin.file_kinds import Dialect

CLAUDE = Dialect(
    kind="agent-md",
    name="claude",
    client="Claude Code",
    patterns=(".claude/agents/**/*.md", f".claude/**/{AGENT_FILE}"),
    folders=(".claude/agents",),
    home=".claude",
    marks={"name": frozenset()},
    reads_subfolders=True,
    needs_name=True,
    skips_short_timeouts=True,
)
