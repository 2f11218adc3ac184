"""Gemini CLI's subagents: `.gemini/agents/*.md`, files whose name begins with `_` left out.

Source: Gemini CLI 0.56 (August 2026), `agentLoader.ts` and `tool-names.ts`: it refuses an agent with an unknown key or
tool.
"""

from octoc.compiler.inputs.agents.clients import (
    COUNT,
    NAMES,
    NUMBER,
    TABLE,
    TEXT,
    AgentDialect,
    object_schema,
)

GEMINI = AgentDialect(
    name="gemini",
    client="Gemini CLI",
    patterns=(".gemini/agents/*.md",),
    home=".gemini",
    effect="Gemini CLI refuses the agent",
    schema={
        **object_schema(
            {
                "kind": {"enum": ["local", "remote"]},
                "name": {**TEXT, "pattern": r"\A[a-z0-9_-]+\Z", "$comment": "lower-case letters, digits, `-` and `_`"},
                "description": {**TEXT, "pattern": r"\S"},
                "display_name": TEXT,
                "tools": NAMES,
                "mcp_servers": TABLE,
                "policy": TABLE,
                "model": TEXT,
                "temperature": NUMBER,
                "max_turns": COUNT,
                "timeout_mins": COUNT,
                "agent_card_url": TEXT,
                "agent_card_json": TEXT,
                "auth": TABLE,
            },
            "name",
            closed=True,
        ),
        "anyOf": [{"required": [key]} for key in ("description", "agent_card_url", "agent_card_json")],
    },
    builtin=frozenset({
        "glob", "write_todos", "write_file", "google_web_search", "web_fetch", "replace", "run_shell_command",
        "grep_search", "search_file_content", "read_many_files", "read_file", "list_directory", "activate_skill",
        "ask_user", "tracker_create_task", "tracker_update_task", "tracker_get_task", "tracker_list_tasks",
        "tracker_add_dependency", "tracker_visualize", "get_internal_docs", "enter_plan_mode", "exit_plan_mode",
        "update_topic", "complete_task", "invoke_agent", "read_mcp_resource", "list_mcp_resources", "save_memory",
    }),
    elsewhere={
        "Read": "read_file", "Write": "write_file", "Edit": "replace", "MultiEdit": "replace", "Grep": "grep_search",
        "Glob": "glob", "Bash": "run_shell_command", "LS": "list_directory", "WebFetch": "web_fetch",
        "WebSearch": "google_web_search", "TodoWrite": "write_todos", "Task": "invoke_agent",
    },
    wants_known=r"\*\Z|discovered_tool_|mcp_(?!_)[A-Za-z0-9.:-]+_|mcp_\*\Z",
    skipped=("_*",),
    bare="refused",
)  # fmt: skip
