"""Amp's `.amp/settings.json`: servers in `amp.mcpServers`.

Seen in the guide in Sourcegraph's `amp-examples-and-guides` (November 2026): `command`, `args`, `env`, `disabled`. The
other keys are seen in files. Not verified: references.
"""

from octoc.plugin.file_kinds import Dialect

AMP = Dialect(
    kind="mcp",
    name="amp",
    client="Amp",
    patterns=(".amp/settings.json", ".amp/settings.jsonc"),
    rank=38,
    is_settings=True,
    reads_comments=True,
    server_list="amp.mcpServers",
    infers_transport=True,
    is_lenient=True,
    takes_numbers=True,
    renames={"includeTools": "include_tools"},
    unused=frozenset({"_target"}),
)
