"""mcp-agent's `mcp_agent.config.yaml`, its servers left out.

Source: mcp-agent 0.2.6, `config.py` and `agents/agent_spec.py`: it takes any key, and ignores those that it does not
know, so a slip changes nothing. It refuses a word that a key does not have.
"""

from octoc.compiler.inputs.agents.clients import NAMES, TABLE, object_schema
from octoc.compiler.inputs.mcp.mcp_agent import MCP_AGENT as MCP_AGENT_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

_SINK = {"enum": ["none", "console", "file", "http"]}
_AGENT = object_schema({"server_names": NAMES})

MCP_AGENT = SettingsDialect(
    name="mcp-agent",
    client="mcp-agent",
    patterns=MCP_AGENT_SERVERS.patterns,
    syntax="yaml",
    server_list=MCP_AGENT_SERVERS.server_list,
    effect="mcp-agent refuses its configuration",
    schema=object_schema(
        {
            "execution_engine": {"enum": ["asyncio", "temporal"]},
            "logger": {
                **object_schema({
                    "type": _SINK,
                    "transports": {"type": ["array", "null"], "items": _SINK},
                    "level": {"enum": ["debug", "info", "warning", "error"]},
                    "path_settings": {"type": ["object", "null"]},
                }),
                "type": ["object", "null"],
            },
            "agents": {
                **object_schema({"definitions": {"type": ["array", "null"], "items": _AGENT}, "search_paths": NAMES}),
                "type": ["object", "null"],
            },
            "mcp": {**TABLE, "type": ["object", "null"]},
        }
    ),
    agents=(("agents", "definitions", "*"),),
    known_keys={
        (): frozenset({
            "name", "description", "mcp", "execution_engine", "temporal", "anthropic", "bedrock", "cohere", "openai",
            "lm_studio", "workflow_task_modules", "workflow_task_retry_policies", "azure", "google", "otel", "logger",
            "usage_telemetry", "agents", "authorization", "oauth", "env",
        }),
        ("agents",): frozenset({"enabled", "search_paths", "pattern", "definitions"}),
        ("agents", "definitions", "*"): frozenset({"name", "instruction", "server_names", "connection_persistence"}),
        ("logger",): frozenset({
            "type", "transports", "level", "progress_display", "path", "path_settings", "batch_size", "flush_interval",
            "max_queue_size", "http_endpoint", "http_headers", "http_timeout",
        }),
        ("temporal",): frozenset({
            "host", "namespace", "api_key", "tls", "task_queue", "max_concurrent_activities", "timeout_seconds",
            "rpc_metadata", "id_reuse_policy", "workflow_task_modules",
        }),
    },
    servers=(("agents", "definitions", "*", "server_names"),),
    root_keys=("mcp", "execution_engine", "agents", "logger"),
)  # fmt: skip
