"""Amazon Q Developer's `.amazonq/mcp.json`.

Seen in the sources of its command line 1.19.7 (April 2026), which knows `stdio` and `http`, and of its language server,
which tells by `command` and `url`.
"""

from octoc.plugin.file_kinds import Dialect

AMAZON_Q = Dialect(
    kind="mcp",
    name="amazon-q",
    client="Amazon Q",
    patterns=(".amazonq/mcp.json",),
    rank=21,
    infers_transport=True,
    takes_numbers=True,
    is_lenient=True,
    renames={"disabledTools": "exclude_tools"},
    unused=frozenset({"autoApprove", "oauthScopes", "initializationTimeout"}),
    variable="${env:NAME}",
    variable_with_default="",
)
