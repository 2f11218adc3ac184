"""Whether a regular expression matches only messages with capital letters."""

from __future__ import annotations

import re

# An escape, the beginning of a group, a class, or a plain character.
_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)"
    r"|\\(?:[pP](?:\{\^?\w+\}|\w)|x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|.)"
    r"|\(\?P?<\w+>"
    r"|\(\?(?P<flags>[a-zA-Z]*(?:-[a-zA-Z]+)?)(?P<closes>[:)])"
    r"|(?P<class>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\])"
    r"|(?P<one>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:[pP](?:\{\^?\w+\}|\w)|x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{2}|.)|\[:\^?\w+:\]", re.DOTALL)
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)


def needs_capitals(expression: str) -> bool:
    """Tell whether an expression has capitals that match no small letter by a flag, a class or an alternative."""
    ignoring = [False]  # one entry for each open group: whether the group ignores case
    words: list[str] = [""]
    for token in _TOKEN.finditer(expression):
        flags, one = token["flags"], token["one"]
        if flags is not None:
            on, _, off = flags.partition("-")
            ignores = "i" in on or (ignoring[-1] and "i" not in off)
            if token["closes"] == ")":
                ignoring[-1] = ignores  # for the rest of its group
            else:
                ignoring.append(ignores)
                words.append("")
        elif token[0].startswith("(?P<") or token[0].startswith("(?<") or one == "(":
            ignoring.append(ignoring[-1])
            words.append("")
        elif one == ")":
            ignoring = ignoring[:-1] or [False]
            words.append("")
        elif one == "|":
            words.append("")
        elif ignoring[-1]:
            continue
        elif token["class"] is not None:
            if _lacks_small_letters(token["class"]):
                return True
        else:
            words[-1] += token["quoted"] or one or ""
    small = {word for word in words if word == word.lower()}
    return any(word.lower() not in small for word in words if word != word.lower())


def _lacks_small_letters(class_: str) -> bool:
    """Tell whether a class has a capital without its small letter; False for a negated class."""
    if class_.startswith("[^"):
        return False
    inside = _ESCAPE.sub("", class_[1:-1])
    letters: set[str] = set()
    for first, last in _RANGE.findall(inside):
        letters.update(map(chr, range(ord(first), min(ord(last), ord(first) + 255) + 1)))
    letters.update(_RANGE.sub("", inside))
    return any(letter != letter.lower() and letter.lower() not in letters for letter in letters)
