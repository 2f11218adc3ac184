"""An agent of octoc in LangChain and LangGraph: its present tools, routing, and the history of each request.

`OctocMiddleware` is for `create_agent`. For a graph of your own, `pre_model_node` and `tool_node` are nodes, and
`tools` are the tools to bind.
"""

from octoc_langgraph.middleware import OctocMiddleware
from octoc_langgraph.nodes import pre_model_node, tool_node
from octoc_langgraph.tools import OctocTool, tools

__all__ = ["OctocMiddleware", "OctocTool", "pre_model_node", "tool_node", "tools"]
