"""An agent of octoc in OpenAI's Agents SDK: its present tools, routing, and the history of each request."""

from octoc_openai_agents.agent import OctocAgent, shorten_history
from octoc_openai_agents.tools import function_tool, function_tools

__all__ = ["OctocAgent", "function_tool", "function_tools", "shorten_history"]
