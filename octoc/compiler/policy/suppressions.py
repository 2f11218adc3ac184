"""Suppressions in comments: `# octoc: ignore[OCT402] why` for a line, `# octoc: ignore-file[...]` for the file."""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs

from octoc.compiler.policy.comments import FileComments, commented
from octoc.compiler.read.nodes import Range
from octoc.compiler.read.spans import kind_of
from octoc.diagnostics.model import Diagnostic, Span
from octoc.diagnostics.rule import Rule
from octoc.diagnostics.rules import RuleFinder, rule_named

# Also behind another comment of the same line: `# why  # octoc: ignore[OCT402]`.
_SUPPRESSION = re.compile(
    r"(?:#|//)[ \t]*octoc:[ \t]*(?P<word>ignore(?:-file)?)(?![\w-])(?:[ \t]*\[(?P<rules>[^\]\n]*)\])?"
)
_MARKER = re.compile(r"octoc:[ \t]*ignore")
_NAME = re.compile(r"[^\s,]+")


@attrs.frozen(kw_only=True)
class SuppressedRule:
    """One rule that a suppression names, as it is written and where; `rule` is None when there is none of this name."""

    text: str
    span: Span
    rule: Rule | None


@attrs.frozen(kw_only=True)
class Suppression:
    """One suppression. `lines` are those whose findings it suppresses; None is the whole file.

    Args:
        span: from the word `ignore` to the closing bracket.
        misplaced: it is for the whole file, and stands below the comments at the top, so it suppresses nothing.
    """

    span: Span
    named: tuple[SuppressedRule, ...]
    lines: frozenset[int] | None
    misplaced: bool = False

    def covers(self, lines: frozenset[int]) -> bool:
        """Tell whether a finding that may be suppressed from one of `lines` is; of the whole file, it has none."""
        return not self.misplaced and (self.lines is None or not self.lines.isdisjoint(lines))


@attrs.define
class FileSuppressions:
    """The suppressions of one file, and which of them suppressed something."""

    suppressions: tuple[Suppression, ...]
    strings: tuple[tuple[int, int], ...]
    used: set[Span] = attrs.field(factory=set)

    def suppress(self, found: Diagnostic) -> bool:
        """Tell whether a finding in this file is suppressed, and remember what suppressed it."""
        lines = self._lines_of(found.span or Span(file=""))
        by = [
            named
            for suppression in self.suppressions
            for named in suppression.named
            if named.rule is not None
            and named.rule.code == found.rule.code
            and suppression.covers(lines)
            # A suppression does not suppress a finding about itself.
            and named.span != found.span
        ]
        self.used.update(named.span for named in by)
        return bool(by)

    def _lines_of(self, span: Span) -> frozenset[int]:
        """Return the lines of a place: its first and its last, and those of a string around it."""
        if not span.line:
            return frozenset()
        around = (line for string in self.strings if string[0] <= span.line <= string[1] for line in string)
        return frozenset((span.line, span.end_line or span.line, *around))


@attrs.define
class Suppressions:
    """The suppressions of all files, each looked at when it is first asked for."""

    read_text: Callable[[str], str | None]
    named: RuleFinder = rule_named
    _files: dict[str, FileSuppressions] = attrs.field(factory=dict)

    def of(self, file: str) -> FileSuppressions:
        """Return the suppressions of a file as diagnostics name it; none when it cannot be read."""
        if file not in self._files:
            kind = kind_of(file)
            text = self.read_text(file) if kind else None
            self._files[file] = FileSuppressions(*(_parse(text, file, kind, self.named) if text else ((), ())))
        return self._files[file]


def _parse(
    text: str, file: str, kind: str, named: RuleFinder
) -> tuple[tuple[Suppression, ...], tuple[tuple[int, int], ...]]:
    if not _MARKER.search(text):
        return (), ()
    found = commented(text, kind)
    suppressions = tuple(
        _suppression(text, file, comment, match, found, named)
        for comment in found.comments
        for match in _SUPPRESSION.finditer(text, *comment)
    )
    return suppressions, found.strings


def _suppression(
    text: str, file: str, comment: Range, match: re.Match[str], found: FileComments, rule_of: RuleFinder
) -> Suppression:
    for_file = match["word"] == "ignore-file"
    start = match.start("rules")
    named = tuple(
        _named(name[0], _span(found, file, (start + name.start(), start + name.end())), rule_of)
        for name in _NAME.finditer(match["rules"] or "")
    )
    return Suppression(
        span=_span(found, file, (match.start("word"), match.end())),
        named=named,
        lines=None if for_file else _lines(text, comment, found),
        misplaced=for_file and comment[0] > found.head,
    )


def _named(text: str, span: Span, rule_of: RuleFinder) -> SuppressedRule:
    rule = rule_of(text)
    return SuppressedRule(text=text, span=span, rule=rule if rule is not None and rule.is_configurable else None)


def _lines(text: str, comment: Range, found: FileComments) -> frozenset[int]:
    """Return the comment's own line and, when it stands alone, the next that is not all comment."""
    own = line = found.lines.line_column(comment[0])[0]
    if text[found.lines.starts[line - 1] : comment[0]].strip():
        return frozenset((own,))
    alone = {
        found.lines.line_column(start)[0]
        for start, _ in found.comments
        if not text[text.rfind("\n", 0, start) + 1 : start].strip()
    }
    while line in alone:
        line += 1
    return frozenset((own, line))


def _span(found: FileComments, file: str, at: Range) -> Span:
    line, column = found.lines.line_column(at[0])
    end_line, end_column = found.lines.line_column(at[1])
    return Span(file=file, line=line, column=column, end_line=end_line, end_column=end_column)
