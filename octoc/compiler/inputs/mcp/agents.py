"""The servers that agents define for themselves. No workspace names these files: they belong to one agent.

Seen in GitHub's reference of custom agents (2026): values of `env` may be names of the repository's secrets. Seen in
`agentLoader.ts` of Gemini CLI (2026): `mcp_servers` has the form of its settings. The others have the form of the
client's file of servers.
"""

import attrs

from octoc.compiler.inputs.agents.amazon_q import AMAZON_Q as AMAZON_Q_AGENTS
from octoc.compiler.inputs.agents.amazon_q import AMAZON_Q_IDE
from octoc.compiler.inputs.agents.codex import CODEX as CODEX_AGENTS
from octoc.compiler.inputs.agents.gemini import GEMINI as GEMINI_AGENTS
from octoc.compiler.inputs.agents.kiro import KIRO_JSON
from octoc.compiler.inputs.mcp.amazon_q import AMAZON_Q
from octoc.compiler.inputs.mcp.codex import CODEX
from octoc.compiler.inputs.mcp.copilot import COPILOT
from octoc.compiler.inputs.mcp.gemini import GEMINI
from octoc.compiler.inputs.mcp.kiro import KIRO
from octoc.plugin.file_kinds import Dialect


def _of_agent(client: Dialect, patterns: tuple[str, ...], server_list: str = "mcpServers") -> Dialect:
    return attrs.evolve(
        client,
        name=f"{client.name}-agent",
        patterns=patterns,
        syntax="markdown" if patterns[0].endswith(".md") else client.syntax,
        rank=99,
        is_settings=True,
        server_list=server_list,
        adds_to_others=True,
    )


_COPILOT = _of_agent(COPILOT, (".github/agents/*.md",), "mcp-servers")
AGENTS: tuple[Dialect, ...] = (
    attrs.evolve(
        _COPILOT,
        replacements=(
            (r"\$\{\{\s*(?:secrets|vars)\.(\w+)\s*\}\}", r"${\1}"),
            (r"\A(COPILOT_MCP_\w+)\Z", r"${\1}"),
            *_COPILOT.replacements,
        ),
        variable="${{ secrets.NAME }}",
        variable_with_default="",
    ),
    _of_agent(GEMINI, GEMINI_AGENTS.patterns, "mcp_servers"),
    _of_agent(KIRO, KIRO_JSON.patterns),
    _of_agent(AMAZON_Q, (*AMAZON_Q_AGENTS.patterns, *AMAZON_Q_IDE.patterns)),
    _of_agent(CODEX, CODEX_AGENTS.patterns, CODEX.server_list),
)
