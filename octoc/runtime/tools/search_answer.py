"""The answer of `find_tools` in profile `octoc`: signatures, whole schemas of the first tools, names of the last.

The first tool is there with its schema if that takes at most half of the budget. Then come signatures, as far as the
budget goes, then the schemas of the next tools. Every tool that was found is there at least by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from octoc.formats.own_tools import CALL_MCP_TOOL
from octoc.formats.signature import signature
from octoc.search.words import first_sentence

_SHOWN_DESCRIPTION = 120
_WHOLE = 3
"""The most tools that are shown with their schemas."""
_MORE = "More: "
_HOW = f"Call them by {CALL_MCP_TOOL}; find_tools(detail=[names]) shows whole schemas."
_BETWEEN = 2
"""Characters between two tools."""


@attrs.frozen(kw_only=True)
class FoundTool:
    """A tool of an answer, as the model calls it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    direct: bool


def as_text(found: Sequence[FoundTool], note: str, budget: int) -> str:
    """Return the answer with its tools in order.

    Args:
        note: what stands before the tools; may be "".
        budget: the most characters, unless the tools' names alone take more.
    """
    short = [_line(tool) for tool in found]
    whole = [f"{line}\n  schema: {_schema(tool)}" for line, tool in zip(short[:_WHOLE], found, strict=False)]
    shown = {place: tool.name for place, tool in enumerate(found)}
    left = budget - len(note) - len(_HOW) - len(_MORE) - sum(len(name) + _BETWEEN for name in shown.values())

    def show(place: int, text: str, most: int) -> None:
        nonlocal left
        more = len(text) - len(shown[place])
        if more <= most:
            shown[place] = text
            left -= more

    show(0, whole[0], left // 2)
    for place, text in enumerate(short):
        if shown[place] == found[place].name:
            show(place, text, left)
    for place, text in enumerate(whole):
        if shown[place] == short[place]:
            show(place, text, left)
    return "\n".join([*([note] if note else []), *_lines(found, shown)])


def _lines(found: Sequence[FoundTool], shown: Mapping[int, str]) -> list[str]:
    lines = [text for place, text in shown.items() if text != found[place].name]
    names = [text for place, text in shown.items() if text == found[place].name]
    if names:
        lines.append(f"{_MORE}{', '.join(names)}")
    if any(not tool.direct for tool in found):
        lines.append(_HOW)
    return lines


def _line(tool: FoundTool) -> str:
    text = " ".join(first_sentence(tool.description).split())
    about = text if len(text) <= _SHOWN_DESCRIPTION else f"{text[: _SHOWN_DESCRIPTION - 1]}…"
    mark = " [direct: call it by its name]" if tool.direct else ""
    return f"- {signature(tool.name, tool.schema)}{mark}" + (f"\n  {about}" if about else "")


def _schema(tool: FoundTool) -> str:
    shown = {key: value for key, value in tool.schema.items() if key != "$schema"}
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
