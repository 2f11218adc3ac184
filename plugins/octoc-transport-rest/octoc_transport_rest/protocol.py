"""The protocol's own numbers and rules, which client and host share."""

from __future__ import annotations

import json
import re
from typing import Any

PROTOCOL = "octopus-rest"
"""What a listing gives as its protocol: the protocol itself has no version."""
MAX_BODY_BYTES = 4 * 1024 * 1024
"""The longest body, 4 MiB. An answer beyond it is cut, a request beyond it is refused."""
MAX_TOOLS = 100
LEFT_OUT = "toolsLeftOut"
"""Where a listing's `server_info` counts the sound tools beyond MAX_TOOLS."""
TOOL_NAME = re.compile(r"[a-z0-9_]+")
JSON_TYPE = "application/json"


def media_type(header: str) -> str:
    """Return a Content-Type without its parameters, in lower case."""
    return header.partition(";")[0].strip().lower()


def parse_json(data: bytes) -> Any:
    """Return the value of a JSON text in UTF-8. Raises: ValueError, saying in a few words what is wrong."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"`{name}` is not JSON")
