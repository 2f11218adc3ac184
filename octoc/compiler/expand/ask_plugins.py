"""Ask plugins for more triggers of capabilities, and write the answers to a file for review."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import attrs

from octoc.compiler.context import Progress, no_progress
from octoc.compiler.expand.digests import answer_digest, told_digest
from octoc.compiler.expand.expanded_file import expanded_text
from octoc.compiler.inputs.routing import EXPANDED_FILE
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Capability
from octoc.compiler.model.source import ExpansionSource
from octoc.compiler.workspace.files import write_if_changed
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.plugin import EXPANSION_FAILED
from octoc.diagnostics.rules.resolve import UNKNOWN_CAPABILITY
from octoc.diagnostics.suggest import did_you_mean
from octoc.masking import mask_secrets
from octoc.plugin import PluginError
from octoc.plugin.manager import Plugins
from octoc.routing.clean import clean_intent, is_routable

MOST = 100
"""Maximum number of texts of a capability; further answers are dropped."""

LONGEST = 300
"""Maximum length of a text in characters: a longer one explains a message instead of being one."""


@attrs.frozen(kw_only=True)
class ExpandedCapability:
    """The result of asking for one capability. `new` are texts that the file did not have; `kept` counts the others."""

    capability: str
    new: tuple[str, ...] = ()
    kept: int = 0
    dropped: int = 0


@attrs.frozen(kw_only=True)
class ExpansionReport:
    """The result of an expansion.

    Args:
        answers: False if no plugin expands triggers, so that nothing was asked or written.
        current: capabilities without changes since they were last asked for.
        gone: capabilities that no tap has, whose texts were removed.
    """

    answers: bool = True
    asked: tuple[ExpandedCapability, ...] = ()
    current: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: bool = False


def expand(
    build: Build,
    root: Path,
    plugins: Plugins,
    sink: DiagnosticSink,
    *,
    names: Collection[str] = (),
    again: bool = False,
    advance: Progress = no_progress,
) -> ExpansionReport:
    """Ask plugins for each capability with triggers that is new or reworded, and write the file.

    A text of an earlier answer that is not in the file was deleted in a review, and is not added again. A failure of a
    plugin is reported, and the file keeps its texts for that capability.

    Args:
        names: capabilities, by default all.
        again: ask also for capabilities without changes.

    Raises: OSError when the file cannot be written.
    """
    known = {capability.name: capability for capability in build.resolved.capabilities if capability.triggers}
    for name in sorted(set(names) - known.keys()):
        sink.report(
            UNKNOWN_CAPABILITY,
            f"there is no capability `{name}` with triggers",
            at=Place(file=build.settings.place.file),
            help=did_you_mean(name, known),
        )
    there = {source.capability: source for source in build.sources.expansions}
    wanted = [name for name in sorted(known) if not names or name in names]
    due = [name for name in wanted if again or name not in there or there[name].triggers != told_digest(known[name])]
    asked: list[ExpandedCapability] = []
    gone = tuple(sorted(there.keys() - known.keys()))

    def write() -> bool:
        kept = [source for name, source in there.items() if name in known]
        return bool(kept or gone) and write_if_changed(root / EXPANDED_FILE, expanded_text(kept).encode())

    changed = False
    for number, name in enumerate(due):
        advance("expanding triggers", number, len(due))
        capability = known[name]
        try:
            answer = plugins.expand_triggers(
                name, capability.title, capability.description, [trigger.value for trigger in capability.triggers]
            )
        except PluginError as error:
            sink.report(EXPANSION_FAILED, f"capability `{name}` was not expanded: {error}", at=capability.place)
            continue
        if answer is None:
            return ExpansionReport(answers=False)
        there[name], outcome = _merged(capability, answer, there.get(name))
        asked.append(outcome)
        # After each answer, which may have cost money: the next one may be interrupted.
        changed |= write()
    changed |= write()
    return ExpansionReport(
        asked=tuple(asked), current=tuple(name for name in wanted if name not in due), gone=gone, changed=changed
    )


def _merged(
    capability: Capability, answer: Sequence[str], before: ExpansionSource | None
) -> tuple[ExpansionSource, ExpandedCapability]:
    """Return the new content of the file: its texts, and the answer's usable texts that no review deleted."""
    says = dict.fromkeys(before.says if before is not None else ())
    answered = dict.fromkeys(before.answered if before is not None else ())
    kept = len(says)
    own = {trigger.value.casefold() for trigger in capability.triggers} | {text.casefold() for text in says}
    new: list[str] = []
    for text in _usable(answer):
        if text.casefold() in own or answer_digest(text) in answered or len(says) >= MOST:
            continue
        own.add(text.casefold())
        answered[answer_digest(text)] = None
        says[text] = None
        new.append(text)
    source = ExpansionSource(
        place=capability.place,
        capability=capability.name,
        triggers=told_digest(capability),
        answered=tuple(answered),
        says=tuple(says),
    )
    dropped = len(answer) - len(new)
    return source, ExpandedCapability(capability=capability.name, new=tuple(new), kept=kept, dropped=dropped)


def _usable(answer: Iterable[object]) -> Iterable[str]:
    """Yield the texts that can be messages: one line, long enough to route, and without a likely secret."""
    for text in answer:
        if not isinstance(text, str):
            continue
        line = " ".join(text.split())
        if (
            len(line) <= LONGEST
            and line.isprintable()
            and is_routable(clean_intent(line))
            and mask_secrets(line) == line
        ):
            yield line
