"""Kiro's `.kiro/settings/mcp.json`. Seen in its documentation, IDE 1 and CLI 3."""

from octoc.plugin.file_kinds import Dialect

KIRO = Dialect(
    kind="mcp",
    name="kiro",
    client="Kiro",
    patterns=(".kiro/settings/mcp.json",),
    rank=20,
    reads_comments=True,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"disabledTools": "exclude_tools"},
    unused=frozenset({"autoApprove", "oauthScopes", "powers", "registry"}),
    key_schemas={"autoApprove": {"description": "Tools that run without a question.", "type": "array"}},
)
