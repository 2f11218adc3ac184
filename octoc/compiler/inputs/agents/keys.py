"""The keys that clients read in agents: a key of another client is not a slip of a near one."""

from octoc.compiler.inputs.agents.amazon_q import AMAZON_Q, AMAZON_Q_IDE
from octoc.compiler.inputs.agents.codex import CODEX, CODEX_USER
from octoc.compiler.inputs.agents.copilot import COPILOT
from octoc.compiler.inputs.agents.cursor import CURSOR
from octoc.compiler.inputs.agents.factory import FACTORY
from octoc.compiler.inputs.agents.gemini import GEMINI
from octoc.compiler.inputs.agents.kilo import KILO
from octoc.compiler.inputs.agents.kiro import KIRO, KIRO_JSON
from octoc.compiler.inputs.agents.opencode import OPENCODE, OPENCODE_USER
from octoc.compiler.inputs.agents.qwen import QWEN

CLIENT_AGENTS = (
    *(COPILOT, CODEX, OPENCODE, KILO, CURSOR, GEMINI, QWEN, KIRO, KIRO_JSON, FACTORY, AMAZON_Q, AMAZON_Q_IDE),
    *(OPENCODE_USER, CODEX_USER),
)
"""The dialects of agents that a build leaves out."""
KEYS_OF_CLIENTS = frozenset(key for dialect in CLIENT_AGENTS for key in dialect.schema["properties"]) | {
    *("agent", "capabilities", "category", "displayName", "disable", "permissionMode", "thinking", "version"),
}
"""All keys that some client reads in an agent or that are widespread."""
