"""Reports tokens whose form tells their issuer: in values, comments, prose and scripts."""

from __future__ import annotations

import re

from octoc.credentials.known_tokens import KnownToken, known_tokens
from octoc.diagnostics.model import DiagnosticSink, Span
from octoc.diagnostics.rules.resolve import KNOWN_TOKEN

_ESCAPE = re.compile(r"\\(?:(/)|u00([2-7][0-9a-fA-F]))")


def report_known_tokens(display: str, text: str, sink: DiagnosticSink) -> None:
    """Report each token in the text of a file; `display` is how diagnostics name the file."""
    if "\\/" in text or "\\u00" in text:  # as some writers of JSON put it
        text = _ESCAPE.sub(lambda match: match[1] or chr(int(match[2], 16)), text)
    for token in known_tokens(text):
        sink.report(
            KNOWN_TOKEN,
            f"secret in plain text: {token.shape}",
            at=_span(display, text, token),
            help="revoke it, because everyone who can read the file has it, and write a reference in its place",
        )


def _span(display: str, text: str, token: KnownToken) -> Span:
    line = text.count("\n", 0, token.start) + 1
    column = token.start - text.rfind("\n", 0, token.start)
    end = column + len(text[token.start : token.end].partition("\n")[0])
    return Span(file=display, line=line, column=column, end_line=line, end_column=end)
