"""The commands of octoc. Each is a module here, or comes with a plugin of octoc's, and is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping

SUMMARIES: Mapping[str, str] = {
    "init": "Write an octoc.toml for this folder.",
    "check": "Find every mistake; change files only with --fix.",
    "build": "Compile the workspace to one file.",
    "expand": "Ask plugins for more triggers of capabilities.",
    "pin": "Record the tools of servers.",
    "diff": "Show what changed between two records of servers.",
    "show": "Show what is in the bundle.",
    "scope": "Show what AGENT may reach, and why.",
    "test": "Run fixtures and skills' trigger evals, or those of each FILE.",
    "route": "Show how MESSAGE is routed.",
    "find": "Search an agent's tools for QUERY.",
    "call": "Call one tool and print its result.",
    "serve": "Serve an agent's tools to an MCP client.",
    "auth": "Log in to servers by OAuth, show logins, log out.",
    "env": "List the variables that servers need.",
    "rules": "List every rule, those of installed plugins last.",
    "explain": "Print the page of RULE.",
    "schema": "Print the JSON Schema NAME, or list all of them.",
}
"""Command -> its line in `octoc --help`, in the order in which a new user needs them."""

PLUGIN_OF: Mapping[str, str] = {"serve": "serve"}
"""Command -> octoc's own plugin that brings it. `octoc --help` lists it even if the plugin is not installed."""

OWN_PLUGINS = frozenset(
    {
        "dashboard",
        "embed-multilingual",
        "embed-onnx",
        "explain",
        "serve",
        "tools-agent",
        "tools-files",
        "transport-mcp",
        "transport-rest",
    }
)
"""Plugins that are released with octoc. Their commands stand above, so none of them is loaded to list commands."""
