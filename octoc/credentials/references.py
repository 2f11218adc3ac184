"""References in a text: a reference is not a credential, but its default may be."""

from __future__ import annotations

import re

from octoc.credentials.names import is_secret_name

# One reference inside another is the folder in `${file:${workspaceFolder}/token}`.
REFERENCE = re.compile(
    r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_:]{0,200}):-(?P<default>[^}$]{0,4000})\}"
    r"|\$\{(?:file:[^{}\"']{0,500}\$\{[^{}\"']{0,100}\}[^{}\"']{0,500}|[^}\"']{0,500})\}"
    r"|\{\{[^}\"']{0,500}\}\}|%[A-Za-z_][A-Za-z0-9_]{0,200}%"
)
# A `$VAR` that should have been a reference; only where it names a secret itself, since a password may begin with `$`.
_BARE_REFERENCE = re.compile(r"(?:(?<=[\s:=\"'])|\A)\$(?P<name>[A-Z_][A-Z0-9_]+)(?![A-Za-z0-9_])")
OPAQUE = "\0"
"""Stands for each character of a reference, so that offsets stay."""


def without_references(text: str) -> str:
    """Return a text of the same length with each reference replaced by `OPAQUE`; its default stays."""
    if "$" not in text and "{" not in text and "%" not in text:
        return text
    text = REFERENCE.sub(_hidden, text)
    return _BARE_REFERENCE.sub(lambda match: _filled(match) if is_secret_name(match["name"]) else match[0], text)


def _hidden(match: re.Match[str]) -> str:
    """Return a reference as opaque characters, its default as it is."""
    default = match["default"]
    if not default:
        return _filled(match)
    start, end = (at - match.start() for at in match.span("default"))
    return OPAQUE * start + default + OPAQUE * (len(match[0]) - end)


def _filled(match: re.Match[str]) -> str:
    return OPAQUE * len(match[0])
