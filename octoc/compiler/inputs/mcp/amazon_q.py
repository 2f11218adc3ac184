"""Amazon Q Developer's `.amazonq/mcp.json`."""

from octoc.plugin.file_kinds import Dialect

AMAZON_Q = Dialect(
    kind="mcp",
    name="amazon-q",
    client="Amazon Q",
    patterns=(".amazonq/mcp.json",),
    rank=21,
    reads_comments=True,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"disabledTools": "exclude_tools"},
    unused=frozenset({"autoApprove", "oauthScopes"}),
)
