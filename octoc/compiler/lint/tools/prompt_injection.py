"""Rules over texts that reach a model: hidden parts, and orders to the model. A finding is not a proof."""

from __future__ import annotations

import re
from functools import lru_cache

import attrs

from octoc.compiler.lint.tools.characters import (
    LOOKALIKES,
    InvisibleRun,
    confusable_words,
    invisible_runs,
    printable,
    quoted,
)
from octoc.compiler.lint.tools.orders import ALL_ORDERS
from octoc.compiler.lint.tools.phrases import HIDDEN, SECRET_NAME, far_text, signs_in
from octoc.compiler.lint.tools.texts import LintedText, texts_of
from octoc.compiler.model.build import Build
from octoc.diagnostics.model import DiagnosticSink, Place, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import lint_tools as rules
from octoc.plugin.lint import lint_check

_NAMED = 3
_SOFT_HYPHEN = "\u00ad"
_LEAST_PART = 2
"""Least letters that hyphenation leaves of a word on each side."""
_LEFT_BEHIND = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_MANY = 8
"""Least number of lone invisible characters that may spell something."""
_COMMENT = "an HTML comment"
_SEPARATORS = re.compile(r"[_.-]+|(?<=[a-z])(?=[A-Z])")
_MARKUP = re.compile(r"\s*<(?![A-Z]+>)")
"""How markup begins: a tag in capitals alone speaks to the model."""
_HELP = "read the text as a model does; if it is harmless, set the rule to `off` for the file in `[lint]`"


@lint_check(rules.ADDRESSES_MODEL, rules.CONFUSABLE_CHARACTER, rules.HIDDEN_TEXT, rules.INVISIBLE_CHARACTER)
def check_texts(build: Build, sink: DiagnosticSink) -> None:
    """Report hidden text in names and descriptions, and orders to the model in descriptions."""
    for text in texts_of(build):
        if not text.value:
            continue
        hides = _check_invisible(text, sink)
        if text.kind != "prompt":
            _check_confusable(text, sink)
        if text.kind == "name":
            for what, words in _orders_in_name(text.value):
                _report_order(text, what, words, text.place, sink)
        elif text.kind != "prompt":
            _check_words(text, sink, hides=hides)


@lru_cache(maxsize=4096)
def _orders_in_name(name: str) -> tuple[tuple[str, str], ...]:
    """Return description and words of each order in a name, whose parts are words."""
    words = _SEPARATORS.sub(" ", name)
    return tuple((what, words[start:end]) for what, start, end in signs_in(words, (*ALL_ORDERS, SECRET_NAME)))


def _check_invisible(text: LintedText, sink: DiagnosticSink) -> bool:
    hidden = list(invisible_runs(text.value))
    runs = [run for run in hidden if text.kind == "name" or not _is_hyphenation(text.value, run)]
    if not runs:
        return bool(hidden)
    names = list(dict.fromkeys(name for run in runs for name in run.names))
    named = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    count = sum(run.end - run.start for run in runs)
    amount = "an invisible character" if count == 1 else f"{count} invisible characters"
    spelt = "".join(run.spelt for run in runs)
    sink.report(
        rules.INVISIBLE_CHARACTER,
        f"{printable(text.what)} contains {amount}: {named}",
        at=_at(text, runs[0].start, runs[0].end),
        # One of them in code is what the code is about, such as an attack.
        severity=Severity.INFO
        if (count == 1 and not spelt and _is_code(text, runs[0].start)) or _is_left(text, runs)
        else None,
        notes=((f"the tag characters spell `{quoted(spelt)}`",) if spelt else ()) + _line_note(text, runs[0].start),
        help="delete them; a model reads what people do not see",
    )
    return True


def _is_hyphenation(value: str, run: InvisibleRun) -> bool:
    """Tell whether a soft hyphen shows where a line may break a word, which leaves two letters on each side."""
    before, after = value[max(run.start - _LEAST_PART, 0) : run.start], value[run.end : run.end + _LEAST_PART]
    is_word = min(len(before), len(after)) == _LEAST_PART and (before + after).isalpha()
    return is_word and value[run.start : run.end] == _SOFT_HYPHEN


def _is_left(text: LintedText, runs: list[InvisibleRun]) -> bool:
    """Tell whether instructions have no more than a few lone characters, as copied text leaves them behind."""
    lone = all(run.end - run.start == 1 and text.value[run.start] in _LEFT_BEHIND for run in runs)
    return text.line == 1 and lone and len(runs) < _MANY


def _is_code(text: LintedText, at: int) -> bool:
    """Tell whether a place in a prompt is inside of a block or a span of code."""
    before = text.value[:at]
    line = before.rpartition("\n")[2]
    return text.kind == "prompt" and (before.count("\n```") % 2 == 1 or line.count("`") % 2 == 1)


def _check_confusable(text: LintedText, sink: DiagnosticSink) -> None:
    for start, end, plain, letter in confusable_words(text.value, is_name=text.kind == "name"):
        sink.report(
            rules.CONFUSABLE_CHARACTER,
            f"{printable(text.what)} has a word that looks like `{plain}` but contains {letter}",
            at=_at(text, start, end),
            help=f"write `{plain}` in ASCII letters if you mean that word",
        )
        return


def _check_words(text: LintedText, sink: DiagnosticSink, *, hides: bool) -> None:
    value = text.value
    # A value that is markup, such as a template, may have comments and styles.
    is_markup = text.kind == "value" and _MARKUP.match(value) is not None
    for what, start, end in () if is_markup else signs_in(value, HIDDEN):
        _report_hidden(text, what, start, end, sink)
    far = far_text(value)
    if far is not None:
        _report_hidden(text, "text after so much blank space that no window shows it", *far, sink)
    orders = list(signs_in(value, ALL_ORDERS, may_mention=text.may_mention))
    # Invisible characters and lookalikes can disguise the words of an order.
    plain = "" if value.isascii() and not hides else _without_disguise(value)
    if plain and plain != value and not orders:
        for what, start, end in signs_in(plain, ALL_ORDERS, may_mention=text.may_mention):
            _report_order(text, what, plain[start:end], text.place, sink)
    for index, (what, start, end) in enumerate(orders):
        # One order may have several signs.
        if not any(start < last and first < end for _, first, last in orders[:index]):
            _report_order(text, what, value[start:end], _at(text, start, end), sink)


def _report_hidden(text: LintedText, what: str, start: int, end: int, sink: DiagnosticSink) -> None:
    inside = text.value[start:end]
    sink.report(
        rules.HIDDEN_TEXT,
        f"{printable(text.what)} has {what}: `{quoted(inside)}`",
        at=_at(text, start, end),
        help=_HELP,
        # Most comments are notes and placeholders.
        severity=Severity.INFO if what.startswith(_COMMENT) and not any(signs_in(inside, ALL_ORDERS)) else None,
    )


def _report_order(text: LintedText, what: str, words: str, place: Place | Span, sink: DiagnosticSink) -> None:
    sink.report(
        rules.ADDRESSES_MODEL, f"{printable(text.what)} reads like {what}: `{quoted(words)}`", at=place, help=_HELP
    )


def _without_disguise(value: str) -> str:
    pieces, last = [], 0
    for run in invisible_runs(value):
        pieces.append(value[last : run.start])
        last = run.end
    return re.sub(r"\s+", " ", "".join((*pieces, value[last:]))).translate(LOOKALIKES)


def _at(text: LintedText, start: int, end: int) -> Place | Span:
    if text.place.part == "key":
        return text.place
    if text.place.path or not text.line:
        return attrs.evolve(text.place, within=(start, end))
    line, column = text.line + text.value.count("\n", 0, start), start - text.value.rfind("\n", 0, start)
    end_line, end_column = text.line + text.value.count("\n", 0, end), end - text.value.rfind("\n", 0, end)
    return Span(file=text.place.file, line=line, column=column, end_line=end_line, end_column=end_column)


def _line_note(text: LintedText, start: int) -> tuple[str, ...]:
    # A prompt whose place has neither path nor line has no span; the note counts its lines.
    is_shown = text.place.path or text.line
    return () if is_shown else (f"line {text.value.count(chr(10), 0, start) + 1} of the text",)
