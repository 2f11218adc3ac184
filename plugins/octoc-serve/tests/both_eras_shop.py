"""A stdio server of the SDK, of both eras, whose tools ask during a call, as `ctx.elicit` does."""

from __future__ import annotations

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

shop = MCPServer("shop")


class Sure(BaseModel):
    """The answer to the question."""

    sure: bool


@shop.tool()
async def buy(context: Context) -> str:
    """Buy what is in the basket."""
    answer = await context.elicit("Buy it?", Sure)
    return answer.action


if __name__ == "__main__":
    shop.run()
