"""octoc's own notices: one line in a part of its own, that says what is not there and how to read on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from octoc.results import ContentPart

MAX_CHARS = 256
"""Longest notice, which comes on top of a limit."""
LONGEST_POINTER = 48
"""Longest JSON pointer in a notice, which has to leave room for the rest."""
READ_RESULT = "read_result"


def read_call(handle: str, **arguments: str | int) -> str:
    """Return the call of `read_result` that reads on, with those arguments that are not what they are without."""
    given = [f'handle="{handle}"']
    for name, value in arguments.items():
        if value != 0:
            given.append(f"{name}={json.dumps(value, ensure_ascii=False)}")
    return f"{READ_RESULT}({', '.join(given)})"


def notice(facts: Iterable[str], details: Iterable[str] = (), advice: Sequence[str] = ()) -> ContentPart:
    """Return a notice: all facts, the details for which there is room, and the first advice that fits, or the last."""
    said = "; ".join(facts)
    room = MAX_CHARS - len("[octoc: ]") - len(said) - 2
    if advice:
        chosen = next((one for one in advice if len(one) <= room), advice[-1])
        room -= len(chosen) + 2
    for detail in details:
        room -= len(detail) + 2
        if room < 0:
            break
        said = f"{said}; {detail}" if said else detail
    if advice:
        said = f"{said}; {chosen}" if said else chosen
    return ContentPart(type="text", text=f"[octoc: {said}]")
