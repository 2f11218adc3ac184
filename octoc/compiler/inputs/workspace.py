"""The workspace's own file, `octoc.toml`."""

from octoc.compiler.inputs.scopes import SCOPE_TABLES
from octoc.compiler.workspace.paths import WORKSPACE_FILE
from octoc.plugin.file_kinds import ANY, FileKind

WORKSPACE = FileKind(
    name="workspace",
    role="workspace",
    # No default stands in for a part of these.
    units=(*((table, ANY) for table in ("taps", *SCOPE_TABLES)), ("serve", "oidc", ANY)),
    has_defaults=True,
    patterns=(WORKSPACE_FILE,),
    recognize=lambda values: not {"workspace", "taps"}.isdisjoint(values),
    key=lambda _: {},
    is_complete=True,
    check="octoc.compiler.check.workspace:check_workspace",
)
