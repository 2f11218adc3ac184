"""Hides credentials in what is printed: lines of files, and messages. Lengths stay, so that columns stay true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from octoc.credentials import credentials_around, credentials_in, is_literal_secret, is_secret_name
from octoc.credentials.windows import LONGEST, ValueEnds, windows

_SCHEME = r"(?:bearer|basic|token)\s+"
_QUOTED = r""""(?:[^"\\]|\\.)*"?|'[^']*'?"""
_PAIR = (
    re.compile(
        r"""(?<![A-Za-z0-9_.-])(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,99})"""
        rf"""(?P<between>["']?\s*[:=]\s*(?:{_SCHEME})?|["']\s+(?=["']))""",
        re.IGNORECASE,
    ),
    re.compile(rf"""\{{\{{[^}}]*\}}\}}|\[[^\]]*\]?|\{{[^}}]*\}}?|{_QUOTED}|[^\s,;}}\]"']+"""),
)
_FLAG = (
    re.compile(
        r"""(?<![\w-])--?(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,99})(?P<between>["']\s*,\s*(?=["'])|\s+)""",
    ),
    re.compile(rf"""{_QUOTED}|[^\s,;}}\]"'-][^\s,;}}\]"']*"""),
)
"""The name of a credential, and the value after it."""
_SCOPE = re.compile(r"read|write|admin|all|\*")
_LETTER = re.compile(r"[^\s\[\]{}\"',]")
_STRINGS = {
    "\"'": re.compile(r"\"(?P<double>(?:[^\"\\]|\\.)*)(?P<closed>\")?|'(?P<single>[^']*)(?P<ended>')?"),
    '"': re.compile(r"\"(?P<double>(?:[^\"\\]|\\.)*)(?P<closed>\")?"),
    "'": re.compile(r"'(?P<single>[^']*)(?P<ended>')?"),
}
_MOST_KEY_LINES = 200
_LONGEST_INSIDE = 128
"""Characters that are looked at of a value inside another value, which was looked through as a whole."""
_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_KEY_BODY = re.compile(r"[\s>|]*[A-Za-z0-9+/=]{1,100}[\s\"']*|[\s>|]*(?:Proc-Type|DEK-Info|Version|Comment):.*|\s*")


def lines_above(read: Callable[[int], str | None], number: int) -> str:
    """Return what `mask_secrets` needs of the lines above a line: the next one, and the first line of a key in PEM.

    Args:
        read: returns a line by its number from 1, or None where there is none.
        number: the line's own.
    """
    lowest = max(0, number - _MOST_KEY_LINES)
    next_above = line = None
    for above in range(number - 1, lowest, -1):
        line = read(above)
        next_above = line if next_above is None else next_above
        if line is None or _KEY_BEGINS.search(line):
            break
        if not _KEY_BODY.fullmatch(line):
            return next_above or ""
    else:
        # So many lines of letters and digits are a key, though its first line is too far away to look for.
        line = "-----BEGIN PRIVATE KEY-----" if line and line.strip() and lowest else None
    return _above(line, next_above)


def masked_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines of a file, each as `mask_secrets` leaves it."""
    masked: list[str] = []
    key: str | None = None
    above: str | None = None
    for line in lines:
        masked.append(mask_secrets(line, _above(key, above)))
        if _KEY_BEGINS.search(line):
            key = line
        elif key is not None and not _KEY_BODY.fullmatch(line):
            key = None
        above = line
    return masked


def _above(key: str | None, above: str | None) -> str:
    """Return the first line of a key and the line above in one text; of a line in no key the end is enough."""
    if key is None:
        return (above or "")[-LONGEST:]
    return key if above is None or above == key else f"{key}\n{above}"


def mask_secrets(line: str, before: str = "") -> str:
    """Return a line of a file with everything that looks like a secret replaced by `*`, of the same length.

    Args:
        before: the lines above it, where the name of what it holds, or the first line of a key, may stand.
    """
    whole = f"{before}\n{line}" if before else line
    hidden = [(found.start, found.end) for found in credentials_around(whole)]
    for start, text in _strings(whole):
        hidden += [(start + found.start, start + found.end) for found in credentials_in(text)]
    ends = ValueEnds(whole)
    for start, end in windows(whole):
        window = whole[start:end]
        for pattern in (_PAIR, _FLAG):
            for begins, stops in _held(window, *pattern):
                is_cut = start + stops == end < len(whole)
                hidden.append((start + begins, ends.end_of(start + begins, end) if is_cut else start + stops))
    return _starred(whole, hidden)[len(whole) - len(line) :]


def mask_values(text: str) -> str:
    """Return a message with what is a secret in any surroundings masked; names and the rest of it stay."""
    if not text:  # as most labels are
        return text
    return _starred(text, [(found.start, found.end) for found in credentials_around(text, is_prose=True)])


def _starred(text: str, hidden: list[tuple[int, int]]) -> str:
    """Replace the characters of the spans, which may overlap, by `*`; ends of lines stay."""
    pieces: list[str] = []
    done = 0
    for start, end in sorted(hidden):
        if end > done:
            unmasked = max(start, done)
            pieces += (text[done:unmasked], re.sub(r"[^\n]", "*", text[unmasked:end]))
            done = end
    return "".join((*pieces, text[done:]))


def _strings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start of each quoted string of a text, after its quote, and the string."""
    quotes, at = "\"'", 0
    while quotes and (match := _STRINGS[quotes].search(text, at)):
        groups = match.groupdict()
        if groups.get("closed") or groups.get("ended"):
            yield match.start() + 1, groups.get("double") or groups.get("single") or ""
            at = match.end()
        else:
            # An unclosed quote starts no string, and neither do later quotes of the same kind.
            quotes = quotes.replace(match[0][0], "")
            at = match.start() + 1


def _held(text: str, names: re.Pattern[str], values: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield where the values stand behind names of secrets, without their quotes."""
    at = looked_through = 0
    while name := names.search(text, at):
        at = name.end()
        if not is_secret_name(name["name"]):
            continue
        match = values.match(text, at)
        if match is None:
            at = name.end("name")
            continue
        value = match[0]
        quote = value[0] if value[0] in "\"'" else ""
        inner = value.strip(quote) if quote else value
        is_inside = at < looked_through
        looked_through = max(looked_through, match.end())
        if (
            (name["between"] == ":" and _SCOPE.fullmatch(inner))
            or not _LETTER.search(inner)
            or not is_literal_secret(name["name"], inner[:_LONGEST_INSIDE] if is_inside else inner)
        ):
            continue
        closed = quote if quote and len(value) > 1 and value.endswith(quote) else ""
        yield match.start() + len(quote), match.end() - len(closed)
        at = match.end()
