"""Gemini CLI's `.gemini/settings.json`, its servers left out.

Source: Gemini CLI 0.56 (August 2026), `config/config.ts`, `settingsSchema.ts` and `policy/config.ts`: an approval mode
of another word stops it, and `yolo`, which only its command line takes, is ignored; names of servers and tools that do
not exist do nothing.
"""

from octoc.compiler.inputs.agents.clients import object_schema
from octoc.compiler.inputs.agents.gemini import GEMINI as GEMINI_AGENTS
from octoc.compiler.inputs.mcp.gemini import GEMINI as GEMINI_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect
from octoc.compiler.inputs.settings.hook_form import GEMINI_HOOK_FORM

GEMINI = SettingsDialect(
    name="gemini",
    client="Gemini CLI",
    patterns=GEMINI_SERVERS.patterns[:1],
    reads_comments=True,
    server_list=GEMINI_SERVERS.server_list,
    effect="Gemini CLI reports the mode at each start, and does not use it",
    schema=object_schema(
        {"general": object_schema({"defaultApprovalMode": {"enum": ["default", "auto_edit", "plan"]}})}
    ),
    tools=tuple(("tools", key) for key in ("core", "allowed", "exclude")),
    builtin=GEMINI_AGENTS.builtin,
    servers=(("mcp", "allowed"), ("mcp", "excluded")),
    hooks=GEMINI_HOOK_FORM,
    rules=tuple(("tools", key) for key in ("core", "allowed", "exclude")),
)
