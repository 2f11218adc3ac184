"""Augment's `.augment/settings.json`: servers in `mcpServers`, beside permissions and hooks of its command line Auggie.

Seen in Augment's documentation of integrations and in files, November 2026: `type` (`stdio`, `http`, `sse`), `command`,
`args`, `env`, `url`, `headers`. A `settings.local.json` beside it is one user's. Not verified: references.
"""

from octoc.plugin.file_kinds import Dialect

AUGMENT = Dialect(
    kind="mcp",
    name="augment",
    client="Augment",
    patterns=(".augment/settings.json", ".augment/settings.local.json"),
    rank=44,
    is_settings=True,
    infers_transport=True,
    is_lenient=True,
    takes_numbers=True,
)
