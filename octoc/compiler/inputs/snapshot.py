"""Recorded tools of a server: `snapshots/<server>.json`."""

from octoc.plugin.file_kinds import ANY, FileKind

SNAPSHOT = FileKind(
    name="snapshot",
    role="snapshots",
    syntax="json",
    units=(
        ("$schema",),
        ("package",),
        ("serverInfo",),
        ("protocolVersion",),
        ("instructions",),
        ("tools", ANY),
        ("tools", ANY, "title"),
        ("tools", ANY, "annotations"),
    ),
    check="octoc.compiler.check.snapshots:check_snapshot",
    workspace_files=("snapshots/*.json",),
    recognize=lambda values: {"tools", "server"} <= values.keys() and not isinstance(values["server"], dict),
    key=lambda path: {"server": path.stem},
    scan="beside-servers",
    structure="octoc.compiler.structure.stage:snapshot",
    limit="max_snapshot_bytes",
)
