"""Factory's `.factory/mcp.json`.

Seen in the documentation in Factory's repository, 24 July 2026: `type` is `stdio`, `http` or `sse`, `oauth` may be
`false`, and `${NAME}` and `${NAME:-default}` are replaced. Not verified: comments, a `url` without `type`.
"""

from octoc.plugin.file_kinds import Dialect

FACTORY = Dialect(
    kind="mcp",
    name="factory",
    client="Factory",
    patterns=(".factory/mcp.json",),
    rank=26,
    reads_comments=True,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"disabledTools": "exclude_tools", "enabledTools": "include_tools"},
    unused=frozenset({"oauth"}),
)
