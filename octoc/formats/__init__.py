"""The forms in which model APIs take tools, and what their providers refuse: pure functions, loaded when first used."""

from __future__ import annotations

from typing import Literal, get_args

ToolFormat = Literal["anthropic", "openai", "openai-responses", "gemini", "mcp"]
"""Messages API, Chat Completions, Responses API, `functionDeclarations`, and a tool as its server lists it."""
FORMATS: tuple[ToolFormat, ...] = get_args(ToolFormat)

_PREFIXES: tuple[tuple[ToolFormat, tuple[str, ...]], ...] = (
    ("anthropic", ("anthropic", "claude", "sonnet", "opus", "haiku")),
    ("gemini", ("gemini", "google", "vertex")),
    ("openai", ("openai", "gpt", "chatgpt", "o1", "o3", "o4", "codex")),
)


def provider_of(form: str) -> str:
    """Return whose rules hold for a form, as `[lint] providers` names them; "" for `mcp`, where none do.

    Raises: ValueError for a form that is not known.
    """
    if form not in FORMATS:
        raise ValueError(f"tools have no form `{form}`: expected one of {', '.join(FORMATS)}")
    return "" if form == "mcp" else form.partition("-")[0]


def format_of(model: str | None, default: ToolFormat = "anthropic") -> ToolFormat:
    """Return the form for a model, by its name as `claude-sonnet-5`, `openai:gpt-5` or `vertex/gemini-3`."""
    name = (model or "").lower()
    parts = [name, name.rpartition("/")[2], name.rpartition(":")[2]]
    for form, prefixes in _PREFIXES:
        if any(part.startswith(prefixes) for part in parts):
            return form
    return default
