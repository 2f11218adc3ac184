"""Claude Code's commands: octoc reads the tools that one may use without a question, and nothing else.

Source: Claude Code 2.1, skills: a file in `.claude/commands/` works as a skill and has the same front matter.
"""

from collections.abc import Mapping
from typing import Any

from octoc.compiler.inputs.claude.plugin import MARKETPLACE_FILE, PLUGIN_FILE
from octoc.compiler.inputs.skill import PROSE_FILES
from octoc.compiler.read.fences import opens
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.read import LENIENT_FRONT_MATTER
from octoc.plugin.file_kinds import Dialect, FileKind


def read_command(text: str, place: Place, sink: DiagnosticSink) -> Mapping[str, Any] | None:
    """Return the front matter of a command.

    Claude Code reads one that YAML refuses: it puts values with a mark in quotes and reads again (2.1). A value with
    `: ` is information, since no other reader takes it; two pairs of brackets in `argument-hint` are usual.
    """
    if not opens(text):
        return None
    from octoc.compiler.read.frontmatter import read_front_matter, unquoted_colons  # loads PyYAML

    found = read_front_matter(text, place, DiagnosticSink())
    for key in unquoted_colons(text) if found is not None else ():
        sink.report(
            LENIENT_FRONT_MATTER,
            f"the value of `{key}` holds `: ` and has no quotes, so YAML cannot read it",
            at=place.child(key),
            notes=("Claude Code reads it as text",),
            help=f"put the value of `{key}` in quotes",
            severity=Severity.INFO,
        )
    return None if found is None else found.values


CLAUDE_COMMAND = FileKind(
    name="claude-command",
    syntax="markdown",
    schema={"type": "object"},
    read=read_command,
    has_defaults=True,
    patterns=(".claude/commands/**/*.md",),
    other_names=PROSE_FILES,
    key=lambda _: {},
    scan="everywhere",
    check="octoc.compiler.check.client_agents:check_command",
    tool_rules=("allowed-tools", "disallowed-tools"),
    is_complete=True,
)

PLUGIN_COMMAND = Dialect(
    kind=CLAUDE_COMMAND.name,
    name="plugin",
    client="Claude Code",
    patterns=("commands/*.md", "commands/*/*.md"),
    beside=(f"../{PLUGIN_FILE}", f"../../{PLUGIN_FILE}", f"../../{MARKETPLACE_FILE}", f"../../../{MARKETPLACE_FILE}"),
)
"""Commands of a plugin, in `commands/` beside its manifest, for which an entry of a marketplace may stand.

Source: Claude Code, plugins reference and plugin marketplaces (2.1).
"""
