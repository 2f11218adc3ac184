"""Where each character of a string stands in the literal that writes it: through escapes, folding and indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octoc.compiler.read.nodes import Range

_SIMPLE = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", "0": "\0", "a": "\a", "v": "\v"}
_SIMPLE |= {"N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"}
_ESCAPED = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # JSON's surrogate pairs
    r"|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}|\\[ \t]*\n\s*|\\."
)
# Style -> its opening and closing marks' lengths. A block scalar's header line is skipped by its own rule.
_MARKS = {"escaped": 1, "escaped-lines": 3, "literal": 1, "literal-lines": 3, "single": 1, "plain": 0, "block": 0}

Unit = tuple[str, int, int]
"""What a piece of the literal stands for, and its range in the literal."""


def ranges_of(literal: str, style: str, value: str) -> list[Range]:
    """Return, for every code point of `value`, the range in `literal` that writes it.

    Args:
        literal: the string as written, with its quotes.
        style: `escaped` and `escaped-lines` (one quote, three quotes), `literal` and `literal-lines` (TOML's), `single`
            (YAML's), `plain` or `block`.
    """
    units = list(_units(literal, style))
    meant = [unit for unit in units if unit[0]]
    if "".join(unit[0] for unit in meant) == value:
        return [(start, end) for _, start, end in meant]
    return _align(value, meant)


def verbatim_range(literal: str, style: str) -> Range | None:
    """Return the range in `literal` that is the value character by character, or None when some are written otherwise.

    It is most strings' case, and long prompts need no list of characters then.
    """
    if style not in ("escaped", "escaped-lines", "literal", "literal-lines"):
        return None
    if style.startswith("escaped") and "\\" in literal:
        return None
    mark = _MARKS[style]
    start = mark + (style.endswith("-lines") and literal[mark : mark + 1] == "\n")
    return start, len(literal) - mark


def _units(literal: str, style: str) -> Iterator[Unit]:
    mark = _MARKS[style]
    start, end = mark, len(literal) - mark
    if style == "block":
        # The header, as in `|-` or `>2  # comment`, says how to read the lines below it.
        start = literal.find("\n") + 1 or len(literal)
    elif style.endswith("-lines") and literal[start : start + 1] == "\n":
        start += 1
    if style.startswith("escaped"):
        at = start
        for match in _ESCAPED.finditer(literal, start, end):
            yield from _verbatim(literal, at, match.start())
            yield _meaning(match.group()), match.start(), match.end()
            at = match.end()
        yield from _verbatim(literal, at, end)
    elif style == "single":
        for match in re.compile(r"''|[\s\S]").finditer(literal, start, end):
            yield match.group()[0], match.start(), match.end()
    else:
        yield from _verbatim(literal, start, end)


def _verbatim(literal: str, start: int, end: int) -> Iterator[Unit]:
    return zip(literal[start:end], range(start, end), range(start + 1, end + 1), strict=True)


def _meaning(written: str) -> str:
    if written[1] in " \t\n" and "\n" in written:
        return ""  # a line continuation
    if len(written) == 12:
        return bytes.fromhex(written[2:6] + written[8:]).decode("utf-16-be")
    if len(written) > 2:
        return chr(int.from_bytes(bytes.fromhex(written[2:])))
    return _SIMPLE.get(written[1], written[1])


def _align(value: str, units: list[Unit]) -> list[Range]:
    # YAML folds line ends and drops indentation, which changes white space alone: words are found in their order.
    found: list[Range] = []
    at = 0
    for character in value:
        if not character.isspace():
            while at < len(units) and units[at][0] != character:
                at += 1
        if at == len(units):
            last = units[-1][2] if units else 0
            found.append((last, last))
            continue
        meaning, start, end = units[at]
        if meaning == character or meaning.isspace():
            found.append((start, end))
            at += 1
        else:
            found.append((start, start))
    return found
