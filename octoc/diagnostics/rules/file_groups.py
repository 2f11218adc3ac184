"""Groups of kinds of files that rules are about, by the kinds' names (`octoc rules --kind` lists a kind's rules)."""

from __future__ import annotations

MCP = frozenset({"mcp"})
AGENT_MD = frozenset({"agent-md"})
CLIENT_AGENTS = frozenset({"client-agent"})
MANIFESTS = frozenset({"agent-manifest"})
AGENTS = AGENT_MD | MANIFESTS
PROVIDERS = frozenset({"capability-provider"})
CAPABILITIES = frozenset({"capability-config"}) | PROVIDERS
SKILLS = frozenset({"skill"})
TAPS = CAPABILITIES | MANIFESTS | SKILLS
CLIENT_SETTINGS = frozenset({"client-settings"})
"""Settings of clients other than Claude Code, beside their servers."""
MARKDOWN = AGENT_MD | CLIENT_AGENTS | SKILLS
WIRED = PROVIDERS | MANIFESTS
"""Files of a tap that refer to servers and grant tools."""
SERVERS = MCP | WIRED | AGENT_MD
"""Files that define servers."""
SNAPSHOTS = frozenset({"snapshot"})
TOOL_TEXTS = SNAPSHOTS | frozenset({"tool-list"})
"""Files with the texts of recorded tools."""
FASTMCP = frozenset({"fastmcp"})
REGISTRY_SERVERS = frozenset({"registry-server"})
SKILLS_LOCKS = frozenset({"skills-lock"})
APM_LOCKS = frozenset({"apm-lock"})
WORKSPACE = frozenset({"workspace"})
FIXTURES = frozenset({"fixtures"})
NEEDS = frozenset({"needs"})
EXPANSIONS = frozenset({"expanded"})
SCOPES = frozenset({"scopes"}) | WORKSPACE
GRANTED = SCOPES | AGENT_MD
"""Files that say which tools an agent gets."""
CLAUDE_SETTINGS = frozenset({"claude-settings"})
CLAUDE_PLUGINS = frozenset({"claude-plugin", "claude-marketplace"})
CLAUDE_HOOKS = CLAUDE_SETTINGS | frozenset({"claude-plugin", "claude-hooks"})
"""Files of Claude Code that define hooks."""
CLAUDE_COMMANDS = frozenset({"claude-command"})
INSTRUCTIONS = frozenset({"instructions"})
"""Texts that clients hand to the model whole."""
PROMPTS = frozenset({"prompt-file"})
"""Texts that a user hands to the model by a name."""
MCPB = frozenset({"mcpb-manifest"})
NAMING = CLAUDE_SETTINGS | MCPB
"""Files that name what another part of the repository defines."""
