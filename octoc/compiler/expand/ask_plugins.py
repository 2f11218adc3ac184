"""What else people say for capabilities: plugins are asked, and their answers written to a file that is reviewed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import attrs

from octoc.compiler.context import Progress, no_progress
from octoc.compiler.expand.expanded_file import answer_digest, expanded_text, told_digest
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
"""How many texts a capability has at most; what plugins say beyond is left out."""

LONGEST = 300
"""Characters of a text at most: a message is short, and what is longer is an explanation of one."""


@attrs.frozen(kw_only=True)
class Asked:
    """What came of asking for one capability. `new` are texts that were not there before."""

    capability: str
    new: tuple[str, ...] = ()
    kept: int = 0
    dropped: int = 0


@attrs.frozen(kw_only=True)
class Expanded:
    """What came of an expansion.

    Args:
        answers: False when no plugin expands triggers: nothing was asked or written.
        current: capabilities that were not asked for, since nothing of them changed.
        gone: capabilities that no tap has any more and whose texts were left out.
    """

    answers: bool = True
    asked: tuple[Asked, ...] = ()
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
) -> Expanded:
    """Ask plugins for each capability with triggers that was not asked for as it is worded now, and write the file.

    A text that was answered before and is not in the file was deleted by somebody, and stays so. What a plugin cannot
    answer is reported, and leaves what the file has for that capability.

    Args:
        names: capabilities, every one by default.
        again: ask also for those that did not change.

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
    asked: list[Asked] = []
    gone = tuple(sorted(there.keys() - known.keys()))

    def write() -> bool:
        kept = [source for name, source in there.items() if name in known]
        return bool(kept or gone) and write_if_changed(root / EXPANDED_FILE, expanded_text(kept).encode())

    changed = False
    for number, name in enumerate(due):
        advance("expanding triggers", number, len(due))
        capability = known[name]
        try:
            told = plugins.expand_triggers(
                name, capability.title, capability.description, [trigger.value for trigger in capability.triggers]
            )
        except PluginError as error:
            sink.report(EXPANSION_FAILED, f"capability `{name}` was not expanded: {error}", at=capability.place)
            continue
        if told is None:
            return Expanded(answers=False)
        there[name], outcome = _merged(capability, told, there.get(name))
        asked.append(outcome)
        # At once: an answer may have cost money, and the next one may be interrupted.
        changed |= write()
    changed |= write()
    return Expanded(
        asked=tuple(asked), current=tuple(name for name in wanted if name not in due), gone=gone, changed=changed
    )


def _merged(
    capability: Capability, told: Sequence[str], before: ExpansionSource | None
) -> tuple[ExpansionSource, Asked]:
    """Return what the file is to say: what it has, and of the new texts those that are messages nobody deleted."""
    says = dict.fromkeys(before.says if before is not None else ())
    answered = dict.fromkeys(before.answered if before is not None else ())
    kept = len(says)
    own = {trigger.value.casefold() for trigger in capability.triggers} | {text.casefold() for text in says}
    new: list[str] = []
    usable = list(_usable(told))
    for text in usable:
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
    return source, Asked(capability=capability.name, new=tuple(new), kept=kept, dropped=len(told) - len(new))


def _usable(told: Iterable[object]) -> Iterable[str]:
    """Yield what is a message: text of one line, long enough to route, without what looks like a secret."""
    for text in told:
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
