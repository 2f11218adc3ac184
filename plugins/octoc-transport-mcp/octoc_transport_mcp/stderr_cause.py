"""The line of a server's stderr that says why it ended: package runners end with other lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NPM = re.compile(r"npm (?:error|ERR!) ?(.*)")
_NPM_FIELD = re.compile(r"(?:code|errno|syscall|path|dest|command|A complete log)\b")
_UV_REASON = "╰─▶"
_NODE_END = re.compile(r"Node\.js v\d")
_NODE_ERROR = re.compile(r"(?:Uncaught )?\w*Error(?: \[\w+\])?: ")
_POINTER = re.compile(r"(?:See|Run|Try) .*(?:--help|more information)", re.IGNORECASE)


def cause_in(lines: Sequence[str]) -> str:
    """Return the line that names the cause: npm's, uv's or Node.js' own error, else the last line; "" without lines.

    npm ends with the path of its log, Node.js with its version, uv with the rest of a sentence, Docker with its help.
    """
    of_npm = [match[1] for line in lines if (match := _NPM.match(line))]
    told = [text for text in of_npm if len(text.split()) > 2 and not _NPM_FIELD.match(text)]
    if told:
        return told[0]
    for number, line in enumerate(lines):
        if line.startswith(_UV_REASON):
            sentence = [line.removeprefix(_UV_REASON).strip()]
            for more in lines[number + 1 :]:
                if more.startswith(("hint:", "help:")):
                    break
                sentence.append(more)
            return " ".join(sentence)
    if lines and _NODE_END.match(lines[-1]):
        errors = [line for line in lines if _NODE_ERROR.match(line)]
        if errors:
            return errors[-1]
    return next((line for line in reversed(lines) if not _POINTER.match(line)), lines[-1] if lines else "")
