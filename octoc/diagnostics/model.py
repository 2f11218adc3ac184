"""What a diagnostic is: data that says which rule was broken, where, and what to do next. Others render it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

import attrs

from octoc.diagnostics.rule import Rule, Severity


@attrs.frozen(kw_only=True, order=True)
class Span:
    """A stretch of a file. Lines and columns count from 1, columns in code points; the end is exclusive.

    `file` is a POSIX path, relative to the workspace where it lies inside it. Line 0 means the file as a whole.
    """

    file: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


KeyPath = tuple[str | int, ...]
"""Where a value is inside a file: keys and list indexes from the root."""


@attrs.frozen(kw_only=True)
class Place:
    """Where a value came from, cheap to carry: the span is worked out from it only when a diagnostic needs one.

    Args:
        file: the path as the workspace names it.
        path: the value's key path; empty for the whole file.
        part: the value itself, or the key that holds it.
        within: a half-open range of code points inside the value's text, to point at a part of a string.
        as_written: `path` is that of the file itself, even where its values are also read in another form.
    """

    file: str
    path: KeyPath = ()
    part: Literal["value", "key"] = "value"
    within: tuple[int, int] | None = None
    as_written: bool = False

    def child(self, *keys: str | int) -> Place:
        """Return the place of something inside this value."""
        return Place(file=self.file, path=(*self.path, *keys))  # `attrs.evolve` takes three times as long

    def key(self) -> Place:
        """Return the place of the key that holds this value."""
        return Place(file=self.file, path=self.path, part="key")


@attrs.frozen(kw_only=True)
class Label:
    """A secondary place, with a few words on what is there."""

    span: Span
    text: str


@attrs.frozen(kw_only=True)
class Edit:
    """Replace the text at `span` by `text`; an empty span inserts. The span is of the file as it was read."""

    span: Span
    text: str


@attrs.frozen(kw_only=True)
class Fix:
    """A change that removes the finding without changing the meaning; applied as a whole or not at all."""

    title: str
    edits: tuple[Edit, ...]


@attrs.frozen(kw_only=True)
class Diagnostic:
    """One finding. `message` is one line without a full stop and true without the notes and the help.

    Findings of one rule with one `subject` are shown as one with a count; without a subject each stands alone.
    """

    rule: Rule
    message: str
    severity: Severity
    span: Span | None = None
    label: str = ""
    related: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    subject: str = ""

    @property
    def sort_key(self) -> tuple[Any, ...]:
        span = self.span or Span(file="")
        return (span.file, span.line, span.column, self.rule.code, self.message)


Locator = Callable[[Place], Span]
Policy = Callable[[Diagnostic], Diagnostic | None]
"""What the workspace makes of a finding: the finding, perhaps of another severity, or None when it is suppressed."""


def whole_file(place: Place) -> Span:
    """The locator for text that cannot be parsed for positions: the file as a whole."""
    return Span(file=place.file)


class UndeclaredRuleError(Exception):
    """A check reports a rule that it does not declare."""


class DiagnosticSink:
    """Collects what the stages report. A stage never raises for a user's mistake: it reports here and goes on."""

    def __init__(self, locate: Locator = whole_file, policy: Policy | None = None) -> None:
        self._locate = locate
        self._policy = policy
        self._found: dict[tuple[Any, ...], Diagnostic] = {}
        self._rules: frozenset[Rule] | None = None
        self._texts = {"": ""}

    def only(self, rules: Iterable[Rule]) -> DiagnosticSink:
        """Return a sink to the same findings that takes findings of `rules` alone."""
        limited = copy.copy(self)
        limited._rules = frozenset(rules)  # noqa: SLF001  # a copy of this class
        return limited

    def report(
        self,
        rule: Rule,
        message: str,
        *,
        at: Place | Span | None = None,
        label: str = "",
        related: Mapping[str, Place] | None = None,
        notes: tuple[str, ...] = (),
        help: str | None = None,  # noqa: A002  # rustc's and ruff's word for it
        severity: Severity | None = None,
        fix: Callable[[Locator], Fix | None] | None = None,
        subject: str = "",
    ) -> None:
        """Add a finding unless the policy suppresses it; one with the same rule, place and message is added once.

        Args:
            fix: makes the fix, from the locator that turns places into spans; called only when the finding stays.
            related: text of a secondary label -> its place.
            severity: the rule's own unless given.
            subject: what findings have in common that are shown as one.

        Raises: UndeclaredRuleError from a sink of `only` other rules.
        """
        if self._rules is not None and rule not in self._rules:
            raise UndeclaredRuleError(f"rule `{rule.code}` is reported by a check that does not declare it")
        mask_values = self._masked
        diagnostic = Diagnostic(
            rule=rule,
            message=mask_values(message),
            severity=rule.severity if severity is None else severity,
            span=self._locate(at) if isinstance(at, Place) else at,
            label=mask_values(label),
            related=tuple(
                Label(span=self._locate(place), text=mask_values(text)) for text, place in (related or {}).items()
            ),
            notes=tuple(map(mask_values, notes)),
            help=None if help is None else mask_values(help),
            subject=mask_values(subject),
        )
        kept = diagnostic if self._policy is None else self._policy(diagnostic)
        if kept is None or kept.sort_key in self._found:
            return
        made = None if fix is None else fix(self._locate)
        # A fix shows its edits in every format, so one that would write a secret is not offered.
        if made is not None and all(mask_values(edit.text) == edit.text for edit in made.edits):
            kept = attrs.evolve(kept, fix=attrs.evolve(made, title=mask_values(made.title)))
        self._found[kept.sort_key] = kept

    def _masked(self, text: str) -> str:
        """Return a text without secrets; many findings have the same message or help."""
        known = self._texts.get(text)
        if known is None:
            # Not at the top: the runtime loads this module for its data, and never reports.
            from octoc.masking import mask_values

            known = self._texts[text] = mask_values(text)
        return known

    def extend(self, diagnostics: Iterator[Diagnostic] | tuple[Diagnostic, ...]) -> None:
        """Add findings that were made before, as from a cache."""
        for diagnostic in diagnostics:
            self._found.setdefault(diagnostic.sort_key, diagnostic)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings, by file, line, column and code."""
        return tuple(sorted(self._found.values(), key=lambda found: found.sort_key))

    def worst(self) -> Severity | None:
        return max((found.severity for found in self._found.values()), default=None)
