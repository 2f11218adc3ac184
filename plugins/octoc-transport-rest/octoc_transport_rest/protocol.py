"""The protocol's numbers and rules, which client and host share."""

from __future__ import annotations

import re
from json import JSONDecodeError
from typing import Any

from octoc.plugin.toolkit import MAX_ELEMENTS, excess, parse

KIND = "rest"
PROTOCOL = "octopus-rest"
"""Protocol in a listing; the protocol has no version."""
MAX_BODY_BYTES = 4 * 1024 * 1024
"""Maximum bytes of a body. A longer answer is cut, a longer request is refused."""
MAX_TOOLS = 100
"""Source: Octopus, tool servers."""
TOO_DEEP = "it is nested too deeply"
LEFT_OUT = "toolsLeftOut"
"""Key in a listing's `server_info`: the number of valid tools beyond MAX_TOOLS."""
TOOL_NAME = re.compile(r"[a-z0-9_]+")
JSON_TYPE = "application/json"


def media_type(header: str) -> str:
    """Return a Content-Type without its parameters, in lower case."""
    return header.partition(";")[0].strip().lower()


class TooManyElementsError(ValueError):
    """A JSON text has more elements than the limit."""


def parse_json(data: bytes, max_elements: int | None = None) -> Any:
    """Return the value of a JSON text in UTF-8. Parse a long text in a thread.

    Raises: TooManyElementsError, before parsing; ValueError, with the reason in a few words.
    """
    over = excess(data, max_elements or MAX_ELEMENTS)
    if over is not None:
        raise TooManyElementsError(str(over)) if over.of == "elements" else ValueError(TOO_DEEP)
    try:
        return parse(data)
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
