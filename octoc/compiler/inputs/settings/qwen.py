"""Qwen Code's `.qwen/settings.json`, its servers left out.

Source: Qwen Code, `permissions` of its settings (November 2026): rules as Claude Code's, `Tool` or `Tool(what)`.
A rule with a name that is not one of its tools matches none of them.
"""

from octoc.compiler.inputs.agents.qwen import QWEN_TOOLS
from octoc.compiler.inputs.mcp.qwen import QWEN as QWEN_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect
from octoc.compiler.inputs.settings.hook_form import QWEN_HOOK_FORM

_RULES = tuple(("permissions", kind) for kind in ("allow", "ask", "deny"))
_LISTS = tuple(("tools", key) for key in ("core", "allowed", "exclude"))
"""Lists of earlier versions."""

QWEN = SettingsDialect(
    name="qwen",
    client="Qwen Code",
    patterns=QWEN_SERVERS.patterns[:1],
    reads_comments=True,
    hooks=QWEN_HOOK_FORM,
    rules=(*_RULES, *_LISTS),
    tools=(*_RULES, *_LISTS),
    builtin=QWEN_TOOLS,
)
