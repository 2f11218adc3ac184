"""Gemini CLI's commands, `.gemini/commands/**/*.toml`: a prompt, and what it is for.

Source: Gemini CLI 0.56, `FileCommandLoader.ts`: `prompt` is a text, and a file without one is skipped with a message.
"""

from octoc.compiler.inputs.agents.clients import TEXT, object_schema
from octoc.compiler.inputs.settings.clients import SettingsDialect

GEMINI_COMMAND = SettingsDialect(
    name="gemini-command",
    client="Gemini CLI",
    patterns=(".gemini/commands/**/*.toml",),
    syntax="toml",
    effect="Gemini CLI skips the command",
    schema=object_schema({"prompt": TEXT, "description": TEXT}, "prompt"),
    prompts=(("prompt",),),
)
