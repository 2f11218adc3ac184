"""Files with tables of scopes: `scopes/*.toml`."""

from octoc.plugin.file_kinds import ANY, FileKind

SCOPE_TABLES = ("tenants", "areas", "groups", "grants", "overrides", "deny")
"""Tables of scopes: in files of their own, and in octoc.toml."""

SCOPES = FileKind(
    name="scopes",
    role="scopes",
    # What is left of a table could be wider than the table, so nothing smaller is cut; see Document.cut, too.
    units=tuple((table, ANY) for table in SCOPE_TABLES),
    check="octoc.compiler.check.scopes:check_scopes",
    content_patterns=("scopes/*.toml", "routing/*.toml"),
    recognize=lambda values: isinstance(values.get("grants"), list) or isinstance(values.get("areas"), dict),
    scan="beside-servers",
    structure="octoc.compiler.structure.stage:scope_tables",
)
