"""Credentials by the place where they stand: after a name, a flag or a scheme such as `Bearer`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octoc.credentials.found import FoundCredential
from octoc.credentials.names import is_secret_name, is_weak_name
from octoc.credentials.references import OPAQUE
from octoc.credentials.values import SCHEME, after_scheme, is_harmless, is_held

_ASSIGNED = re.compile(
    r"(?<![\w.$-])(?:--?)?(?P<name>[A-Za-z_][\w.-]{0,99})(?P<between>\\*[\"']\s*[:=]\s*|\s*=\s*|:\s+|:(?!//))"
)
_ASSIGNED_VALUE = re.compile(
    rf"\\+\"(?:[^\"\\]|\\(?!\"))*|\"(?:[^\"\\]|\\.)*|'[^']*|<+[\w -]+>+|\[[\w -]+\]|(?i:{SCHEME})?[^\s\"'&;`]+"
)
_FLAGGED = re.compile(r"(?<![\w-])--?(?P<name>[A-Za-z][\w.-]{0,99})(?:\\*[\"']\s*,\s*\\*(?=[\"'])|\s+)")
_FLAGGED_VALUE = re.compile(r"\\*\"(?:[^\"\\]|\\.)*|'[^']*|[^\s\"'`,-][^\s\"'`,]*")
_LONGEST_WEAK = 400
SCHEMED = re.compile(
    r"(?<![\w-])(?:(?<=[:=\"'])|(?<=[:=] )|(?P<anywhere>))(?i:bearer|basic)\s+(?P<value>[^\s\"'`,;]{8,})"
)
_SHORT = re.compile(
    r"(?<![\w-])-(?:-(?=user\b|auth\b|basic|proxy-user))?(?P<flag>[pPua])(?:ser(?:pwd)?|uth|roxy-user)?"
    r"(?:\\*[\"']\s*,\s*\\*[\"']|=|\s+|(?=[^\s\"',=-]))(?P<value>[^\s\"'`,-][^\s\"'`,]*)"
)
_TAKES_PASSWORD = re.compile(r"(?i)mysql|mariadb|sshpass|mongo|sqlcmd|clickhouse|cqlsh|influx|docker login")
_REDIS = re.compile(r"(?i)redis")
_CONTAINERS = re.compile(r"\b(?:docker|podman|nerdctl|chown)\b")
_MAKES_FOLDERS = re.compile(r"\b(?:mkdir|cp|install)\b")
_MAYBE_PASSWORD = re.compile(r"(?![a-z]+(?:-[a-z]+)+-?[0-9]+\Z)[^\s/:@.=,]{6,64}")
_SCOPE = re.compile(r"read|write|admin|all|\*")


def assigned(text: str, *, is_prose: bool) -> Iterator[FoundCredential]:
    """Yield what stands behind `name=` or `name:` where the name makes it a credential."""
    at = 0
    while match := _ASSIGNED.search(text, at):
        at = match.end()
        value = _value_after(match, _ASSIGNED_VALUE)
        if value is None or not _is_assignment(match, value):
            continue
        start, end = _unquoted(value)
        is_word = is_prose and match["between"][-1:].isspace() and text[start:end].isalpha()
        if not is_word and is_held(match["name"], text[start:end]):
            yield FoundCredential(after_scheme(text, start, end), end, match["name"])
            at = end


def flagged(text: str, *, is_prose: bool) -> Iterator[FoundCredential]:
    """Yield what stands behind `--name ` or `-p ` where the flag makes it a credential."""
    at = 0
    while match := _FLAGGED.search(text, at):
        at = match.end()
        value = _value_after(match, _FLAGGED_VALUE)
        if value is None:
            continue
        start, end = _unquoted(value)
        if not (is_prose and text[start:end].isalpha()) and is_held(match["name"], text[start:end]):
            yield FoundCredential(start, end, match["name"])
            at = end
    for match in _SHORT.finditer(text):
        # What program it is may stand in another line.
        if is_short_flag_secret(match["flag"], match["value"], ""):
            yield FoundCredential(*match.span("value"), "password")


def schemed(text: str) -> Iterator[FoundCredential]:
    """Yield what stands behind `Bearer ` or `Basic ` unless it reads as a word."""
    for match in SCHEMED.finditer(text):
        value = match["value"]
        is_prose_word = match["anywhere"] is not None and not re.search(r"[0-9=]", value)
        if not value.isalpha() and not is_prose_word and not is_harmless(value):
            yield FoundCredential(*match.span("value"), "authorization")


def _value_after(match: re.Match[str], pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Return the value after a name that may hold a credential; values after other names are ignored."""
    if is_secret_name(match["name"]):
        return pattern.match(match.string, match.end())
    if is_weak_name(match["name"]):
        return pattern.match(match.string, match.end(), match.end() + _LONGEST_WEAK)
    return None


def is_short_flag_secret(flag: str, value: str, program: str) -> bool:
    """Tell whether the value of a flag of one letter is a password, or a user with one.

    Args:
        flag: without its dash; `u` also stands for its long forms.
        program: the command that takes it; empty when it is not known.
    """
    value = value.replace(OPAQUE, "")
    if is_harmless(value):
        return False
    if flag == "u":
        user, colon, password = value.partition(":")
        return bool(colon and user and password and not password.isdigit() and "/" not in value) and (
            _CONTAINERS.search(program) is None
        )
    if flag == "a" and program:
        return _REDIS.search(program) is not None
    if _TAKES_PASSWORD.search(program) is not None:
        return not value.isdigit()
    # For any other program it may be a port, a profile, a package or a folder.
    is_mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return is_mixed and _MAYBE_PASSWORD.fullmatch(value) is not None and _MAKES_FOLDERS.search(program) is None


def _is_assignment(match: re.Match[str], value: re.Match[str]) -> bool:
    """Tell a header's line from a scope as `secrets:read`: without space, a colon is one after a capital or a dash."""
    if match["between"] != ":":
        return True
    is_header = match["name"][0].isupper() or "-" in match["name"]
    return is_header and not _SCOPE.fullmatch(value[0])


def _unquoted(value: re.Match[str]) -> tuple[int, int]:
    """Return where a value stands without the quote that opens it and the backslash before the one that closes it."""
    start, end = value.span()
    opening = re.match(r"\\*[\"']", value[0])
    if opening is not None:
        start += opening.end()
    if value[0].endswith("\\"):
        end -= 1
    return start, max(start, end)
