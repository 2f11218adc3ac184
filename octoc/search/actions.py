"""What a query asks to be done, and the words of tools that do such a thing. Pure functions, no numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from octoc.search.products import word_set
from octoc.search.stem import stem
from octoc.search.words import words

_READING = word_set(
    """analyze are browse can catch check compare count describe did display does download explain fetch filter find get
give has have how inspect is list look lookup monitor open query read retrieve review search see show summarize tell
view watch what when where which who whom whose why"""
)
"""Words of queries that only read, as almost every product has a tool for."""

_ACTIONS = """
create make new start build generate write open compose begin launch init draft register
add append insert attach put include assign associate link tag label
delete remove erase drop trash discard destroy purge clear uninstall
update edit change rename modify set adjust tweak patch replace fix correct bring move upgrade
send post reply answer message comment react write remark submit leave
transfer migrate
publish release
star favorite favourite bookmark like
rerun retry restart rollback undo revert
schedule postpone snooze delay remind
invite onboard
export
import
merge combine
archive unarchive
pin unpin
lock unlock freeze
clone duplicate copy mirror
fork
stash
blame annotate
rebase squash cherry
push upload
pull sync
buy purchase order subscribe
cancel unsubscribe terminate
dub translate
train
convert transform
share
block ban kick mute suspend
approve reject accept decline
close resolve reopen complete
grant revoke permit
connect integrate install
enable disable activate deactivate toggle
run execute trigger invoke evaluate
print
pay charge refund
record
call dial
""".strip().splitlines()
"""Words for one action, a line each. A tool with one of them may do what another one asks for."""

_WIDER = {
    "add": "create update send push", "send": "create add push", "create": "push send",
}  # fmt: skip
"""First word of a line -> first words of further lines whose tools may do it, too."""


def _satisfying() -> Mapping[str, frozenset[str]]:
    lines = {line.split()[0]: frozenset(map(stem, line.split())) for line in _ACTIONS}
    found: dict[str, frozenset[str]] = {}
    for first, stems in lines.items():
        further = [lines[other] for other in _WIDER.get(first, "").split()]
        for one in stems:
            found[one] = found.get(one, frozenset()).union(stems, *further)
    return found


_SATISFYING: Final = _satisfying()
_STEMS_OF_READING: Final = frozenset(map(stem, _READING))


def action_of(text: str) -> tuple[str, frozenset[str]] | None:
    """Return the first word for an action, and the stems of which a tool that does it has one.

    None if the text asks to read, or names no action.
    """
    for word in words(text):
        one = stem(word)
        if one in _STEMS_OF_READING:
            return None
        if one in _SATISFYING:
            return word, _SATISFYING[one]
    return None
