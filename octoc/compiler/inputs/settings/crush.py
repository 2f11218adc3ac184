"""Crush's `crush.json`, its servers left out.

Source: Crush (August 2026), `internal/config/resolve.go`: values of providers are expanded as in a shell.
"""

from octoc.compiler.inputs.mcp.crush import CRUSH as CRUSH_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

CRUSH = SettingsDialect(
    name="crush",
    client="Crush",
    patterns=CRUSH_SERVERS.patterns,
    server_list=CRUSH_SERVERS.server_list,
    texts=tuple(("providers", "*", *key) for key in (("api_key",), ("base_url",), ("extra_headers", "*"))),
)
