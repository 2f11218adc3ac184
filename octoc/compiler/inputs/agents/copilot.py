"""GitHub Copilot's agents, in Visual Studio Code too; older ones are chat modes.

Source: GitHub, custom agents configuration (2026-06); Visual Studio Code 1.109, `promptValidator.ts` and custom agents.
Both ignore unknown keys and tools, so octoc reports none of them as an error. Names of tools are found in any case.
GitHub's page requires a description; what is done without one is unknown.
Front matter without a closing line ends with the file (`promptFileParser.ts`, read in November 2026).
"""

from octoc.compiler.inputs.agents.clients import (
    ANYTHING,
    NAMES_OR_TEXT,
    TEXT_OR_NULL,
    AgentDialect,
    object_schema,
    unread,
)

_KEYS = (
    *("name", "description", "target", "tools", "model", "disable-model-invocation", "user-invocable"),
    *("user-invokable", "infer", "mcp-servers", "metadata", "argument-hint", "handoffs", "agents"),
    *("advancedOptions", "hooks", "github", "skills", "mode"),
)

COPILOT = AgentDialect(
    name="copilot",
    client="GitHub Copilot",
    patterns=(".github/agents/*.md", ".github/chatmodes/*.md", "*.agent.md", "*.chatmode.md"),
    home=".github",
    schema=object_schema({
        **dict.fromkeys(_KEYS, ANYTHING),
        "description": TEXT_OR_NULL,
        "tools": NAMES_OR_TEXT,
    }),
    builtin=frozenset({
        "execute", "shell", "bash", "powershell", "read", "NotebookRead", "edit", "MultiEdit", "write", "NotebookEdit",
        "search", "grep", "glob", "agent", "custom-agent", "task", "web", "WebSearch", "WebFetch", "todo", "TodoWrite",
        "codebase", "fetch", "githubRepo", "usages", "editFiles", "runCommands", "problems", "terminalLastCommand",
        "view", "create", "apply_patch", "rg", "web_fetch", "web_search", "ask_user", "report_intent", "sql", "skill",
        "read_bash", "write_bash", "stop_bash", "list_bash", "store_memory", "todos", "changes", "thinking", "new",
        # In JetBrains' editors.
        "run_subagent", "insert_edit_into_file", "replace_string_in_file", "create_file", "read_file", "open_file",
        "show_content", "get_errors", "get_terminal_output", "run_in_terminal", "file_search", "grep_search",
        "semantic_search", "list_dir", "list_code_usages", "get_changed_files",
        "terminalSelection", "testFailure", "runTests", "extensions", "vscodeAPI", "openSimpleBrowser", "runSubagent",
    }),
    ignores_case=True,
    documented=("description",),
    unread=unread("name the tools that it may use in `tools`"),
)  # fmt: skip
