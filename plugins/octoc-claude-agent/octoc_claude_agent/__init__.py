"""octoc's tools and routing for agents of Claude's Agent SDK."""

from octoc_claude_agent.agent import ClaudeAgent
from octoc_claude_agent.server import mcp_server

__all__ = ["ClaudeAgent", "mcp_server"]
