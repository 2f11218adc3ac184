"""What `octoc init --from octopus` reads; no part of a workspace."""

from octoc.plugin.file_kinds import FileKind

OCTOPUS_EXPORT = FileKind(
    name="octopus-export",
    syntax="json",
    # No units: half an export would be a workspace that grants something else.
    recognize=lambda values: {"areas", "agents"} <= values.keys(),
    key=lambda _: {},
    check="octoc.compiler.check.octopus:check_export",
)
