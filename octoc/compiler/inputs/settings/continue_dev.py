"""Continue's `.continue/config.yaml` and its blocks, their servers left out.

Source: Continue, June 2026, `config-yaml/src/schemas/index.ts` and `load/unroll.ts`: a YAML file without `name` or
`version` is not loaded, and neither is one with a role of models that it does not know (`schemas/models.ts`).
"""

from octoc.compiler.inputs.agents.clients import ANYTHING, object_schema
from octoc.compiler.inputs.mcp.continue_dev import CONTINUE as CONTINUE_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

_BLOCKS = ("mcpServers", "models", "agents", "assistants", "configs")
_PARTS = ("models", "mcpServers", "rules", "prompts", "docs", "context", "data")
_ROLES = {"enum": ["chat", "autocomplete", "embed", "rerank", "edit", "apply", "summarize", "subagent"]}
_MODEL = object_schema({"roles": {"type": "array", "items": _ROLES}})

CONTINUE = SettingsDialect(
    name="continue",
    client="Continue",
    patterns=(
        ".continue/config.yaml",
        *(f".continue/{folder}/*{ending}" for folder in _BLOCKS for ending in (".yaml", ".yml")),
    ),
    syntax="yaml",
    server_list=CONTINUE_SERVERS.server_list,
    effect="Continue does not load the file",
    schema={
        **object_schema({"name": ANYTHING, "version": ANYTHING, "models": {"type": "array", "items": _MODEL}}),
        "required": ["name", "version"],
    },
    root_keys=_PARTS,
)
