"""Drop pasted text from a message: fenced code, traces, logs, mails, diffs, dumps, encoded bytes.

Lines are classified one by one. Code, JSON and tables are dropped only in runs of two lines or more, so that a single
line of a request is never taken for a paste. Every rule takes linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise

_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_ARMOUR = re.compile(r"\s*-----BEGIN ([A-Z0-9 ]{1,60})-----")
_DIFF = re.compile(r"diff --git |--- (?:a/|/dev/null)|\+\+\+ (?:b/|/dev/null)|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_DIFF_LINE = re.compile(r"[-+ @\\]|index [0-9a-f]+\.\.|(?:new|deleted) file mode |similarity index |rename |$")
_MAIL_END = re.compile(
    r"\s*-{3,} ?(?:Original Message|Forwarded message|Ursprüngliche Nachricht) ?-{3,}", re.IGNORECASE
)
_QUOTED = re.compile(r"\s*>|\s*On .{4,120} wrote:\s*$|\s*Am .{4,120} schrieb .{1,80}:\s*$")
_QUOTED_BY = re.compile(r"\s*(?:On|Am) .{4,200}<\S{1,100}@\S{1,100}>(?: wrote| schrieb.{0,80})?:\s*$")
"""The line before a quoted mail, where a mail program has broken it in two."""
_HEADER = re.compile(r"(?:From|Sent|To|Cc|Bcc|Subject|Date|Reply-To|Message-ID): \S", re.IGNORECASE)

_TRACE = re.compile(
    r"\s*Traceback \(most recent call last\)|\s*File \"[^\"]+\", line \d+"
    r"|\s*at [\w$.<>\[\]/ ]{1,200}\(.{0,200}\)(?: in .{1,300}:line \d+)?\s*$"
    r"|\s*at (?:async )?\S+:\d+(?::\d+)?\s*$|\s*\.\.\. \d+ more|Caused by: |\s*Exception in thread |goroutine \d+ \["
    r"|thread '[^']{1,80}' panicked at |\s*--> \S+:\d+|\s*+(?:\d{1,6}\s*+)?\|(?:\s(?!.*\|\s*$)|$)|\s*= (?:note|help): "
    r"|(?:error|warning)\[[A-Z]?\d+\]: |\s*[~^]+\s*$|panic: |\s+\^|\s*(?:from )?\S{1,300}:\d+:in [`']"
    r"|#\d{1,3} (?:\{main\}$|\S{1,300}\(\d+\): )|\s+thrown in .{1,300} on line \d+$|Stack trace:$"
)
_RAISED = re.compile(r"(?:[A-Za-z_][\w.]{0,120}(?:Error|Exception|Warning|Interrupt)|error|fatal)(?::\s.*)?$")
_LOG = re.compile(
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d[.,\]\s]"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2} \d\d:\d\d:\d\d "
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[:\s|]"
    r"|\S{1,60} - - \[\d\d/\w{3}/\d{4}:|[IWEF]\d{4} \d\d:\d\d:\d\d"
)
_OUTPUT = re.compile(
    r"npm (?:ERR!|error|WARN|warn|notice) |Step \d{1,4}/\d{1,4} : | ?---> |#\d{1,4} (?:\[|\d|DONE|CACHED|ERROR)"
    r"|E: \S|make(?:\[\d+\])?: \*\*\* |Segmentation fault\b|.{0,200}\(core dumped\)\s*$|HTTP/\d(?:\.\d)? \d{3}\b"
    r"|(?:PHP )?(?:Fatal|Uncaught|Unhandled)(?: \w{1,40})? ?(?:error|exception|rejection|\w{0,60}Error)(?:: |\. \S)"
    r"|exit status \d+$"
)
"""Other output of programs. A single line of it may be part of a request."""
_SAYS_ERROR = re.compile(r"[A-Za-z_][\w.]{0,120}(?:Error|Exception): \S")
"""The line of an error. A single one may be part of a request, several are output."""
_FIELD = re.compile(r"[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){1,6}: \S|[A-Z][A-Z0-9-]{0,40}(?:;[^:\s]{0,80})?:\S")
"""A header of HTTP, a property of a calendar or of a card."""
_RULER = " \t_-"
"""The characters of a line above a mail's header."""
_GREETING = re.compile(
    # A greeting to the agent belongs to the request.
    r"(?!.*\b(?:Claude|ChatGPT|GPT|Copilot|Gemini|Assistant|Agent|Bot|AI)\b)"
    r"\s*(?:Hi|Hello|Hey|Dear|Hallo|Lieber?|Guten Tag|Sehr geehrter?|Bonjour|Cher|Chère|Hola|Estimad[oa]|Ciao"
    r"|Gentile|Beste|Car[oa]|Olá) (?:[^\W\d_][\w.'-]{0,40} ){0,3}[^\W\d_a-z][\w.'-]{0,40} ?[,:!]?\s*$"
)
_CLOSING = re.compile(
    r"\s*(?:(?:(?:With )?(?:Best|Kind|Warm|Warmest|best|kind|warm) |Many )?[Rr]egards|Best wishes|All the best|Cheers"
    r"|(?:Yours )?[Ss]incerely|Yours (?:truly|faithfully)|Mit (?:freundlichen|besten|herzlichen) Grüßen"
    r"|(?:Viele|Beste|Liebe|Herzliche) Grüße|Cordialement|Bien à vous|Salutations|Saludos(?: cordiales)?|Un saludo"
    r"|Atentamente|Cordiali saluti|Met vriendelijke groet)(?:,? [^\W\d_][\w.'-]{0,40}){0,3}[,.!]?\s*$"
)
_CODE = re.compile(
    r"(?:\t| {4,})\S|\s*(?:def|class|fn|func|function|async def|pub fn|impl|struct|enum|interface) [\w.<>].*[:{(]\s*$"
    r"|\s*import (?:[\w.*]+(?: as \w+)?(?:, [\w.]+(?: as \w+)?){0,20};?\s*$|[{\"'*])"
    r"|\s*import (?:\w+, \{|static |type |\w+ from [\"'])"
    r"|\s*(?:from [\w.]+ import |#include|package [\w.]+;?$|using [\w.]+;|use [\w:]+;|@\w+(?:\(.*\))?$)"
    r"|\s*(?:return|throw|raise|yield)(?:(?: [\w.]+)?;?$| .{0,200}[(\[{;=\"'+*])"
    r"|\s*(?:(?:elif|else|try|except|finally|catch)\b.{0,200}[:{]|try|else|finally|\} ?(?:else|catch).{0,200})$"
    r"|\s*(?:public|private|protected|static|const|let|var|export|final) (?:.{0,300}[=({;<]|default |\* |\w+$)"
    r"|\s*(?:if|for|while|switch|with) .{0,300}[:{]\s*$|.*[;{}]\s*$|\s*[)\]}]+[;,]?\s*$|\s*(?://|/\*|\*/|<!--)"
    r"|\s*(?:FROM|RUN|COPY|ADD|CMD|ENTRYPOINT|WORKDIR|ENV|EXPOSE|ARG|USER|VOLUME|LABEL|HEALTHCHECK) \S"
    r"|\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WHERE|GROUP BY|ORDER BY|LEFT JOIN|INNER JOIN|JOIN) "
    r"|\s*[\w.\[\]\"']+ ?(?:=|:=|\+=|==) ?\S|\s*[\w.]+\(.*\)[;,]?\s*$|\s*- ?[\w-]+: "
    r"|\s*[\w-]+:(?: [\w\"'/.-]+)?$|\s*</?\w"
)
_JSON = re.compile(
    r"\s*(?:[\[{]|[\]}][\]},;]*\s*$|\"[^\"]{0,200}\"\s*(?::|,?\s*$)"
    r"|-?[\d.]+,?\s*$|(?:true|false|null),?\s*$)"
)
_PROMPT = re.compile(r"\s*(?:\$|PS [A-Z]:\\[^>]*>|[\w.-]+@[\w.-]+:[^$#]{0,80}[$#]|>>>|irb>|mysql>|\w+=#) ")
_TABLE_HEAD = re.compile(r"\s*(?:[A-Z][A-Z0-9_()%/-]+\s+){2,}[A-Z][A-Z0-9_()%/-]+\s*$")
_RULED = re.compile(r"\s*[|+].*[|+]\s*$|[-=+|\s]{6,}+$")
_ENCODED = re.compile(r"(?:data:[\w/+.-]{1,60};base64,)?[A-Za-z0-9+/_-]{48,}={0,2}")
_PROSE = re.compile(
    r"(?!diff --git |On |Am |(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) |[A-Z]{4}|[IWEF]\d)[^\W\d_]"
    r"[^\s\[]{0,46}+(?: ++[^\s\[]{1,47}+)*+ *+"
)
"""One line of words, as most messages are, for which none of the rules of single lines can hold."""

_MAX_SIGNATURE = 4
"""The most lines of a signature after a closing."""

_WORDS = re.compile(r"[a-z]{4,}(?:-[a-z]+)*")
"""A word that base64 hardly ever has between two slashes."""
_MIN_ENCODED_PART = 24

_MIN_RUN = 2
_MIN_ROWS = 3
_SEPARATORS = "\t,;|"


def strip_pasted(text: str) -> str:
    """Return a message without pasted text; empty if all of it is pasted."""
    return text if _PROSE.fullmatch(text) and "Traceback" not in text else by_lines(text)


def by_lines(text: str) -> str:
    """Return the result of `strip_pasted` without its shortcut for plain prose."""
    lines = text.splitlines()
    dropped = [False] * len(lines)
    _blocks(lines, dropped)
    _answered(lines, dropped)
    _letter(lines, dropped)
    _marked(lines, dropped)
    for pattern in (_FIELD, _SAYS_ERROR, _CODE, _JSON, _RULED):
        _runs(lines, dropped, pattern)
    _tables(lines, dropped)
    _rows(lines, dropped)
    left = "\n".join(line for line, gone in zip(lines, dropped, strict=True) if not gone)
    return _without_encoded(left if any(dropped) else text)


def _blocks(lines: Sequence[str], dropped: list[bool]) -> None:
    """Mark blocks with a beginning and an end: fences, armoured keys, diffs, mails at the end."""
    fence = armour = ""
    in_diff = False
    for number, line in enumerate(lines):
        if fence:
            dropped[number] = True
            closing = _FENCE.match(line)
            if closing and closing[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif armour:
            dropped[number] = True
            armour = "" if armour in line else armour
        elif opening := _FENCE.match(line):
            # A fence that opens and ends in one line is inline code in a sentence.
            if opening[1][0] not in line[opening.end() :]:
                dropped[number], fence = True, opening[1]
        elif begins := _ARMOUR.match(line):
            dropped[number], armour = True, f"-----END {begins[1]}-----"
            armour = "" if armour in line else armour
        elif _DIFF.match(line):
            dropped[number] = in_diff = True
        elif in_diff and _DIFF_LINE.match(line) and line:
            dropped[number] = True
        elif _MAIL_END.match(line):
            dropped[number:] = [True] * (len(lines) - number)
            return
        else:
            in_diff = False


def _answered(lines: Sequence[str], dropped: list[bool]) -> None:
    """Mark a quoted mail after the user's own words, from its header to the end.

    A header at the start is that of a mail which the request follows, so only its own lines are dropped.
    """
    own = next((number for number, line in enumerate(lines) if line.strip(_RULER)), len(lines))
    for number in range(own + 1, len(lines) - 2):
        if lines[number].startswith("From: ") and all(map(_HEADER.match, lines[number : number + 3])):
            start = number if lines[number - 1].strip(_RULER) else number - 1
            dropped[start:] = [True] * (len(lines) - start)
            return


def _letter(lines: Sequence[str], dropped: list[bool]) -> None:
    """Mark a letter: from a greeting with a name to a closing, and the name below it."""
    begin = next((number for number, line in enumerate(lines) if not dropped[number] and _GREETING.match(line)), None)
    if begin is None:
        return
    for number in range(len(lines) - 1, begin, -1):
        if _CLOSING.match(lines[number]):
            end = number + 1
            while end < len(lines) and end - number <= _MAX_SIGNATURE and lines[end].strip():
                end += 1
            dropped[begin:end] = [True] * (end - begin)
            return


def _marked(lines: Sequence[str], dropped: list[bool]) -> None:
    """Mark lines that are recognised alone: traces, logs, quoted mail, shell prompts."""
    multiple = len(lines) > 1
    previous = False
    for number, line in enumerate(lines):
        if dropped[number]:
            previous = True
            continue
        trace = bool(_TRACE.match(line)) and (multiple or "Traceback" in line)
        follows = previous and bool(line.strip()) and (line[:1] in " \t" or bool(_RAISED.match(line)))
        header = bool(_HEADER.match(line)) and any(
            _HEADER.match(near) for near in (*lines[max(0, number - 1) : number], *lines[number + 1 : number + 2])
        )
        prompt = multiple and bool(_PROMPT.match(line))
        output = multiple and bool(_OUTPUT.match(line))
        logged = bool(_LOG.match(line) or _QUOTED.match(line))
        dropped[number] = trace or follows or header or prompt or output or logged
        previous = trace or (previous and follows)
    for number, (line, following) in enumerate(pairwise(lines)):
        # Some languages print the exception before its trace.
        if dropped[number + 1] and not dropped[number] and _RAISED.match(line):
            dropped[number] = True
        elif line.startswith(("On ", "Am ")) and _QUOTED_BY.match(f"{line[:300]} {following[:300].strip()}"):
            dropped[number : number + 2] = [True, True]


def _runs(lines: Sequence[str], dropped: list[bool], pattern: re.Pattern[str]) -> None:
    """Mark runs of at least two lines that match; blank lines between them belong to the run."""
    run: list[int] = []
    for number, line in enumerate([*lines, "."]):
        if number < len(lines) and not dropped[number] and pattern.match(line):
            run.append(number)
        elif line.strip() or number == len(lines):
            if len(run) >= _MIN_RUN or (len(run) == 1 and _is_dump(lines[run[0]])):
                for place in run:
                    dropped[place] = True
            run = []


def _is_dump(line: str) -> bool:
    """Return whether one line is a whole JSON object or list."""
    stripped = line.strip()
    if stripped[:1] not in "{[" or stripped[-1:] not in "}]":
        return False
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    return True


def _tables(lines: Sequence[str], dropped: list[bool]) -> None:
    """Mark a command's table with a header in capitals, and the command above it."""
    for number, line in enumerate(lines[:-1]):
        if dropped[number] or not _TABLE_HEAD.match(line) or not lines[number + 1].strip():
            continue
        if number and not dropped[number - 1] and lines[number - 1][-1:] not in ":.?!":
            dropped[number - 1] = True
        place = number
        while place < len(lines) and lines[place].strip():
            dropped[place] = True
            place += 1


def _rows(lines: Sequence[str], dropped: list[bool]) -> None:
    """Mark three or more lines in a row with the same number, two or more, of one separator."""
    for separator in _SEPARATORS:
        start = 0
        counts = [0 if gone else line.count(separator) for line, gone in zip(lines, dropped, strict=True)]
        for number in range(1, len(lines) + 1):
            if number < len(lines) and counts[number] == counts[start]:
                continue
            if counts[start] >= _MIN_RUN and number - start >= _MIN_ROWS:
                dropped[start:number] = [True] * (number - start)
            start = number


def _without_encoded(text: str) -> str:
    """Return a text without long runs of base64 or hexadecimal, and paths and addresses without such parts."""

    def cleaned(match: re.Match[str]) -> str:
        token = match.group()
        parts = token.split("/")
        if any(map(_WORDS.fullmatch, parts)):
            return "/".join("" if len(part) >= _MIN_ENCODED_PART and _is_encoded(part) else part for part in parts)
        return " " if _is_encoded(token) else token

    return _ENCODED.sub(cleaned, text)


def _is_encoded(token: str) -> bool:
    """Return whether a token is encoded bytes, and not a long slug, which has fewer kinds of characters."""
    mixed = any(c.isdigit() for c in token) and any(c.isupper() for c in token) and any(c.islower() for c in token)
    return mixed or all(c in "0123456789abcdefABCDEF" for c in token)
