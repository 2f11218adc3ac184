"""LibreChat's `librechat.yaml`, its servers left out.

Source: LibreChat 0.8, `packages/data-provider/src/utils.ts`: `${NAME}` alone is replaced.
"""

from octoc.compiler.inputs.mcp.librechat import LIBRECHAT as LIBRECHAT_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

_CUSTOM = ("endpoints", "custom", "*")
_GROUPS = ("endpoints", "azureOpenAI", "groups", "*")

LIBRECHAT = SettingsDialect(
    name="librechat",
    client="LibreChat",
    patterns=LIBRECHAT_SERVERS.patterns,
    syntax="yaml",
    server_list=LIBRECHAT_SERVERS.server_list,
    texts=(
        ("mcpServers", "*", "apiKey", "key"),
        *(
            (*place, *key)
            for place in (_CUSTOM, _GROUPS)
            for key in (("apiKey",), ("baseURL",), ("headers", "*"), ("additionalHeaders", "*"))
        ),
    ),
    addresses=((*_CUSTOM, "baseURL"), (*_GROUPS, "baseURL")),
    variable_with_default="",
    root_keys=(LIBRECHAT_SERVERS.server_list, _CUSTOM[0]),
)
