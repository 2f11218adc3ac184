"""Which URIs a template of resources (RFC 6570) stands for."""

from __future__ import annotations

import re
from typing import Any

from octoc.linear_regex import RegexError, compile_regex

MAX_TEMPLATE_CHARS = 4096
MAX_URI_CHARS = 65_536
"""A longer URI matches no template."""
_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_SIMPLE = "[^/?#&]+"
_VALUES = {
    "": _SIMPLE,
    "+": "[^#]+",
    "#": "(?:#.*)?",
    ".": r"(?:\.[^/?#]*)?",
    "/": "(?:/[^?#]*)?",
    ";": "(?:;[^/?#]*)?",
    "?": r"(?:\?[^#]*)?",
    "&": "(?:&[^#]*)?",
}
"""Operator of an expression -> the expression for what it expands to."""


def matcher(template: str) -> Any:
    """Return the compiled expression for the URIs of a template; None for a template that cannot be read."""
    if len(template) > MAX_TEMPLATE_CHARS:
        return None
    parts, at = [], 0
    for found in _EXPRESSION.finditer(template):
        parts.append(re.escape(template[at : found.start()]))
        explode = found.group(1) == "" and found.group(2).endswith("*")
        parts.append("[^?#]+" if explode else _VALUES[found.group(1)])
        at = found.end()
    parts.append(re.escape(template[at:]))
    try:
        return compile_regex("".join(parts))
    except RegexError:
        return None


def is_of(template: Any, uri: str) -> bool:
    """Return whether a template has a URI. It has no URI with a `..` segment, which may lead elsewhere."""
    if template is None or len(uri) > MAX_URI_CHARS:
        return False
    path = re.split("[?#]", uri, maxsplit=1)[0].lower().replace("%2e", ".").replace("%2f", "/").replace("\\", "/")
    return ".." not in path.split("/") and template.fullmatch(uri) is not None
