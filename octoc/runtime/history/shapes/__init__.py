"""The known shapes of message lists, and how a list's shape is found. A new shape is added here."""

from __future__ import annotations

from collections.abc import Sequence

from octoc.runtime.history.shapes.base import Call, Message, MessageResult, Shape
from octoc.runtime.history.shapes.blocks import ANTHROPIC, MCP
from octoc.runtime.history.shapes.chat import OCTOPUS, OPENAI
from octoc.runtime.history.shapes.fields import get, listed
from octoc.runtime.history.shapes.responses import RESPONSES

__all__ = ["ANTHROPIC", "MCP", "OCTOPUS", "OPENAI", "RESPONSES", "SHAPES", "Call", "Message", "MessageResult", "Shape"]
__all__ += ["shape_of"]

SHAPES: dict[str, Shape] = {shape.name: shape for shape in (RESPONSES, ANTHROPIC, MCP, OPENAI, OCTOPUS)}


def shape_of(messages: Sequence[Message], format: str | None = None) -> Shape:  # noqa: A002  # the field's word
    """Return the shape of a list: the one stated, or that of the first message that only one shape has.

    A list of plain messages is OpenAI's if it has a role that Anthropic does not have and no call in content blocks;
    otherwise it is Anthropic's, which has the strictest rules. Raises: ValueError for an unknown format.
    """
    if format is not None:
        if format not in SHAPES:
            raise ValueError(f"messages have no format `{format}`: expected one of {', '.join(SHAPES)}")
        return SHAPES[format]
    for message in messages:
        for shape in SHAPES.values():
            if shape.is_evidence(message):
                return shape
    blocks = (block for message in messages for block in listed(get(message, "content")))
    if any(get(block, "type") == "tool_use" for block in blocks):
        return ANTHROPIC
    foreign = any(get(message, "role") in {"system", "developer", "tool"} for message in messages)
    return OPENAI if foreign else ANTHROPIC
