"""Fixes of findings: which can be applied together, whether they remove their findings, and writing them whole.

Everything is tried in memory first. A fix is kept when its files can still be read and its finding is gone; so long as
kept fixes bring up others, those are tried too. Only then files are written, all or none.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from octoc.compiler.read.text import UTF8_BOM, why
from octoc.diagnostics.model import Diagnostic, Edit, Span
from octoc.diagnostics.rule import Severity
from octoc.whole_files import write_whole

MAX_ROUNDS = 12
"""How often the fixed files are checked for more to fix."""

Recheck = Callable[[Mapping[str, bytes]], tuple[Diagnostic, ...]]
"""Returns what is found when these files, by display path, have these bytes."""
Locate = Callable[[str], Path | None]
"""Returns the file of a display path, links followed; None for one that may not be changed."""


@attrs.frozen(kw_only=True)
class FileChange:
    """One file before and after. `path` is the file itself, behind links."""

    display: str
    path: Path
    before: bytes
    after: bytes


@attrs.frozen(kw_only=True)
class FixOutcome:
    """What fixing comes to.

    Args:
        applied: the findings that are fixed.
        refused: those whose fix does not fit its file, does not remove it, or would leave a file that cannot be read.
        outside: those whose fix is for a file that may not be changed.
    """

    changes: tuple[FileChange, ...] = ()
    applied: tuple[Diagnostic, ...] = ()
    refused: tuple[Diagnostic, ...] = ()
    outside: tuple[Diagnostic, ...] = ()


def plan_fixes(found: Sequence[Diagnostic], locate: Locate, recheck: Recheck, displays: Iterable[str]) -> FixOutcome:
    """Return which fixes of `found` to apply, and what the files then are. Nothing is written.

    Args:
        displays: the display paths of all files that are read: one file may have several.
    """
    names: dict[Path, list[str]] = {}
    for display in displays:
        path = locate(display)
        if path is not None:
            names.setdefault(path, []).append(display)
    state = _State(locate=locate, names=names)
    wanted = [each for each in found if each.fix is not None]
    outside = tuple(each for each in wanted if not _is_ours(each, locate))
    found = tuple(found)
    applied: list[Diagnostic] = []
    refused: dict[tuple[object, ...], Diagnostic] = {}
    for _ in range(MAX_ROUNDS):
        free = [each for each in found if each.fix is not None and _is_ours(each, locate) and _id(each) not in refused]
        chosen = choose(free, locate)
        if not chosen:
            break
        trial, misfits = state.applied(chosen)
        failed = misfits
        after: tuple[Diagnostic, ...] = ()
        if not misfits:
            after = recheck(trial.overlay())
            failed = [*_unmended(chosen, found, after, locate)]
            if not failed and trial.contents in state.seen:
                failed = chosen  # two fixes that undo each other
        if failed:
            refused.update((_id(each), each) for each in failed)
            continue
        state, found = trial, after
        applied.extend(chosen)
    return FixOutcome(changes=state.changes(), applied=tuple(applied), refused=tuple(refused.values()), outside=outside)


def choose(found: Iterable[Diagnostic], locate: Locate) -> list[Diagnostic]:
    """Return the findings whose fixes can be applied together: where two overlap, the first by position."""
    taken: dict[Path, list[Span]] = {}
    chosen = []
    for each in sorted(found, key=lambda each: min(edit.span for edit in _edits(each))):
        spans = [(locate(edit.span.file), edit.span) for edit in _edits(each)]
        if any(_clash(span, other) for path, span in spans if path is not None for other in taken.get(path, ())):
            continue
        for path, span in spans:
            if path is not None:
                taken.setdefault(path, []).append(span)
        chosen.append(each)
    return chosen


def apply_edits(data: bytes, edits: Sequence[Edit]) -> bytes | None:
    """Return a file with edits that do not overlap; None when one of them is not within the text.

    Byte-order mark, line ends and what ends the file stay. New lines in an edit's text get the file's line end.
    """
    mark = UTF8_BOM if data.startswith(UTF8_BOM) else b""
    try:
        text = data.removeprefix(mark).decode("utf-8")
    except UnicodeDecodeError:
        return None
    # As the reader has it: a line ends with LF, and does not include a CR before that.
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    line_end = "\r\n" if len(lines) > 1 and lines[0].endswith("\r") else "\n"

    def offset(line: int, column: int) -> int | None:
        if not 1 <= line <= len(lines):
            return None
        # No LF follows the last line, so a CR at its end is part of it.
        content = lines[line - 1].removesuffix("\r") if line < len(lines) else lines[line - 1]
        return starts[line - 1] + column - 1 if 1 <= column <= len(content) + 1 else None

    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        start, end = offset(edit.span.line, edit.span.column), offset(edit.span.end_line, edit.span.end_column)
        if start is None or end is None or not at <= start <= end:
            return None
        pieces += [text[at:start], edit.text.replace("\r\n", "\n").replace("\n", line_end)]
        at = end
    pieces.append(text[at:])
    try:
        return mark + "".join(pieces).encode("utf-8")
    except UnicodeEncodeError:
        return None


def write_changes(changes: Sequence[FileChange]) -> str | None:
    """Write all files, or leave all as they were and return why.

    Each file is replaced whole and keeps its mode. A provider's copy that stands as `default.toml` stays its copy.
    """
    changes = [*changes, *_copies(changes)]
    for change in changes:
        try:
            if change.path.read_bytes() != change.before:
                return f"`{change.display}` has changed meanwhile"
        except OSError as error:
            return f"`{change.display}` cannot be read: {why(error)}"
    written: list[FileChange] = []
    for change in changes:
        try:
            write_whole(change.path, change.after, mode=change.path.stat().st_mode & 0o7777)
        except OSError as error:
            for done in written:
                write_whole(done.path, done.before, mode=done.path.stat().st_mode & 0o7777)
            return f"`{change.display}` cannot be written: {why(error)}"
        written.append(change)
    return None


@attrs.frozen(kw_only=True)
class _State:
    """Files as they are after the fixes so far: by path behind links, with what is on disk."""

    locate: Locate
    names: Mapping[Path, Sequence[str]]
    before: Mapping[Path, bytes] = attrs.field(factory=dict)
    contents: Mapping[Path, bytes] = attrs.field(factory=dict)
    seen: tuple[Mapping[Path, bytes], ...] = ()

    def applied(self, chosen: Sequence[Diagnostic]) -> tuple[_State, list[Diagnostic]]:
        """Return the files with the fixes of `chosen`, and the findings whose edits do not fit."""
        by_path: dict[Path, list[tuple[Edit, Diagnostic]]] = {}
        for each in chosen:
            for edit in _edits(each):
                path = self.locate(edit.span.file)
                if path is not None:
                    by_path.setdefault(path, []).append((edit, each))
        before, contents = dict(self.before), dict(self.contents)
        misfits: list[Diagnostic] = []
        for path, edits in by_path.items():
            try:
                data = contents[path] if path in contents else path.read_bytes()
            except OSError:
                misfits.extend(each for _, each in edits)
                continue
            before.setdefault(path, data)
            changed = apply_edits(data, [edit for edit, _ in edits])
            if changed is None:
                alone = [each for edit, each in edits if apply_edits(data, [edit]) is None]
                misfits.extend(alone or [each for _, each in edits])
                continue
            contents[path] = changed
        original = {path: before[path] for path in contents}
        seen = (*self.seen, self.contents, original)
        return attrs.evolve(self, before=before, contents=contents, seen=seen), misfits

    def overlay(self) -> dict[str, bytes]:
        return {name: data for path, data in self.contents.items() for name in self.names.get(path, ())}

    def _own_name(self, path: Path) -> str:
        """Return the display path that is the file's own, rather than that of a link to it."""
        names = self.names[path]
        return next((name for name in names if name.rpartition("/")[2] == path.name), names[0])

    def changes(self) -> tuple[FileChange, ...]:
        changed = (path for path, data in self.contents.items() if data != self.before[path])
        return tuple(
            FileChange(display=self._own_name(path), path=path, before=self.before[path], after=self.contents[path])
            for path in sorted(changed)
        )


def _unmended(
    chosen: Sequence[Diagnostic], found: Sequence[Diagnostic], after: Sequence[Diagnostic], locate: Locate
) -> Iterable[Diagnostic]:
    """Yield the findings that are still there, and those whose files can no longer be read."""
    unreadable = {locate(file) for file in _unreadable(after) - _unreadable(found)}
    mended = Counter(map(_what, chosen))
    were, remain = Counter(map(_what, found)), Counter(map(_what, after))
    for each in chosen:
        what = _what(each)
        if remain[what] > were[what] - mended[what] or any(
            locate(edit.span.file) in unreadable for edit in _edits(each)
        ):
            yield each


def _unreadable(found: Iterable[Diagnostic]) -> set[str]:
    """Return the files whose text could not be read."""
    return {
        each.span.file
        for each in found
        if each.span is not None and each.severity is Severity.ERROR and each.rule.leaves_unread
    }


def _copies(changes: Iterable[FileChange]) -> Iterable[FileChange]:
    for change in changes:
        default = change.path.with_name("default.toml")
        if (
            change.path.suffix == ".toml"
            and change.path.parent.parent.name == "capabilities"
            and default != change.path
        ):
            try:
                if not default.is_symlink() and default.read_bytes() == change.before:
                    display = change.display.removesuffix(change.path.name) + default.name
                    yield attrs.evolve(change, path=default, display=display)
            except OSError:
                continue  # there is no default, or none that is a copy


def _clash(one: Span, other: Span) -> bool:
    start, end = (one.line, one.column), (one.end_line, one.end_column)
    other_start, other_end = (other.line, other.column), (other.end_line, other.end_column)
    if start == end or other_start == other_end:
        return start <= other_end and other_start <= end
    return start < other_end and other_start < end


def _is_ours(found: Diagnostic, locate: Locate) -> bool:
    edits = _edits(found)
    return bool(edits) and all(edit.span.line > 0 and locate(edit.span.file) is not None for edit in edits)


def _edits(found: Diagnostic) -> tuple[Edit, ...]:
    return found.fix.edits if found.fix is not None else ()


def _what(found: Diagnostic) -> tuple[str, str, str]:
    return (found.rule.code, found.span.file if found.span else "", found.message)


def _id(found: Diagnostic) -> tuple[object, ...]:
    return (*_what(found), found.span)


def inside(folder: Path, path: Path) -> Path | None:
    """Return the file at `path`, links followed; None when it lies outside of `folder`, or is not a file."""
    real = Path(os.path.realpath(path))
    return real if real.is_file() and real.is_relative_to(os.path.realpath(folder)) else None
