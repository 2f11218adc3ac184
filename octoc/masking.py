"""Hides credentials in what is printed: lines of files, and messages. Lengths stay, so that columns stay true."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from octoc.credentials import credentials_around, credentials_in, is_literal_secret, is_secret_name

_SCHEME = r"(?:bearer|basic|token)\s+"
_QUOTED = r""""(?:[^"\\]|\\.)*"?|'[^']*'?"""
_PAIR = re.compile(
    r"""(?<![A-Za-z0-9_.-])(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,99})"""
    rf"""(?P<between>["']?\s*[:=]\s*(?:{_SCHEME})?|["']\s+(?=["']))"""
    rf"""(?P<value>\{{\{{[^}}]{{0,2000}}\}}\}}|\[[^\]]{{0,2000}}\]?|\{{[^}}]{{0,2000}}\}}?|{_QUOTED}|[^\s,;}}\]"']{{1,2000}})""",
    re.IGNORECASE,
)
_FLAG = re.compile(
    rf"""(?<![\w-])--?(?P<name>[A-Za-z][A-Za-z0-9_.-]{{0,99}})(?P<between>["']\s*,\s*(?=["'])|\s+)"""
    rf"""(?P<value>{_QUOTED}|[^\s,;}}\]"'-][^\s,;}}\]"']*)"""
)
_SCOPE = re.compile(r"read|write|admin|all|\*")
_LETTER = re.compile(r"[^\s\[\]{}\"',]")
_STRINGS = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'")
_MOST_KEY_LINES = 200
_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_KEY_BODY = re.compile(r"[\s>|]*[A-Za-z0-9+/=]{1,100}[\s\"']*|[\s>|]*(?:Proc-Type|DEK-Info|Version|Comment):.*|\s*")


def lines_above(read: Callable[[int], str | None], number: int) -> str:
    """Return what `mask_secrets` needs of the lines above a line: the next one, or a key in PEM from its first line on.

    Args:
        read: returns a line by its number from 1, or None where there is none.
        number: the line's own.
    """
    lines: list[str] = []
    for above in range(number - 1, max(0, number - _MOST_KEY_LINES), -1):
        line = read(above)
        if line is None:
            break
        lines.append(line)
        if _KEY_BEGINS.search(line) or not _KEY_BODY.fullmatch(line):
            break
    if lines and not _KEY_BEGINS.search(lines[-1]):
        del lines[1:]
    return "\n".join(reversed(lines))


def masked_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines of a file, each as `mask_secrets` leaves it."""

    def read(number: int) -> str:
        return lines[number - 1]

    return [mask_secrets(line, lines_above(read, number)) for number, line in enumerate(lines, start=1)]


def mask_secrets(line: str, before: str = "") -> str:
    """Return a line of a file with everything that looks like a secret replaced by `*`, of the same length.

    Args:
        before: the lines above it, where the name of what it holds, or the first line of a key, may stand.
    """
    whole = f"{before}\n{line}" if before else line
    held = _mask_held(_mask_held(whole, _PAIR), _FLAG)
    hidden = [(found.start, found.end) for found in credentials_around(whole)]
    for match in _STRINGS.finditer(whole):
        start = match.start() + 1
        hidden += [(start + found.start, start + found.end) for found in credentials_in(match[1] or match[2] or "")]
    return _starred(held, hidden)[len(whole) - len(line) :]


def mask_values(text: str) -> str:
    """Return a message with what is a secret in any surroundings masked; names and the rest of it stay."""
    return _starred(text, [(found.start, found.end) for found in credentials_around(text, is_prose=True)])


def _starred(text: str, hidden: list[tuple[int, int]]) -> str:
    if not hidden:
        return text
    characters = list(text)
    for start, end in hidden:
        characters[start:end] = ("\n" if one == "\n" else "*" for one in characters[start:end])
    return "".join(characters)


def _mask_held(text: str, pattern: re.Pattern[str]) -> str:
    """Mask the values that `pattern` finds behind names of secrets. Another value may have such names in it."""
    pieces: list[str] = []
    done = start = 0
    while match := pattern.search(text, start):
        value = match["value"]
        quote = value[0] if value[0] in "\"'" else ""
        inner = value.strip(quote) if quote else value
        start = match.start("value")
        if (
            not is_secret_name(match["name"])
            or (match["between"] == ":" and _SCOPE.fullmatch(inner))
            or not _LETTER.search(inner)
            or not is_literal_secret(match["name"], inner)
        ):
            continue
        closed = quote if quote and len(value) > 1 and value.endswith(quote) else ""
        hidden = value[len(quote) : len(value) - len(closed)]
        pieces += (text[done:start], quote, re.sub(r"[^\n]", "*", hidden), closed)
        done = start = match.end("value")
    return "".join((*pieces, text[done:]))
