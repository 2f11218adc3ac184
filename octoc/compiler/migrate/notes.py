"""Notes of a migration: what has no place in octoc, gathered by field, and what a person should look at."""

from __future__ import annotations

from collections.abc import Iterable

from octoc.compiler.migrate.texts import ExtraField
from octoc.lists import some_names

_MOST_NAMED = 5
_USERS = "octoc knows no users: the host says who may talk to an agent"
_LOOKS = "what people see is the host's"
_MODELS = "octoc calls no model: the host chooses it"
_WHY = {
    "userGroups": _USERS,
    "isPublic": _USERS,
    "brandingName": _LOOKS,
    "welcomeMessage": _LOOKS,
    "defaultModel": _MODELS,
    "defaultLLMProvider": _MODELS,
    "llmProvider": _MODELS,
    "defaultPruning": "the host prunes with `session.fit`",
    "defaultSemanticTopK": "searching knowledge is the host's",
    "aiFunctions": "octoc runs no code of an export: serve the functions as tools of a server",
}


class Notes:
    """Lines, in the order in which they come up; those on fields without a place are gathered and come last."""

    def __init__(self) -> None:
        self._lines: dict[str, None] = {}
        self._left: dict[tuple[str, str], list[str]] = {}
        self._masked: set[tuple[str, str]] = set()

    def add(self, line: str) -> None:
        self._lines[line] = None

    def kept(self, what: str, label: str, extras: Iterable[ExtraField]) -> str:
        """Return the text of a comment on fields that have no place, and note them."""
        lines = []
        for extra in extras:
            self._left.setdefault((what, extra.name), []).append(label)
            if extra.is_masked:
                self._masked.add((what, extra.name))
            lines.append(extra.text)
        return "\n".join(["No place in octoc:", *lines]) if lines else ""

    @property
    def lines(self) -> tuple[str, ...]:
        left = []
        for (what, name), labels in self._left.items():
            named = list(dict.fromkeys(label for label in labels if label))
            of = f" of {what} {some_names(named, _MOST_NAMED)}" if named else ""
            why = f" ({_WHY[name]})" if name in _WHY else ""
            masked = "; what looks like a secret is masked there" if (what, name) in self._masked else ""
            left.append(f"`{name}`{of} has no place in octoc, and is a comment{why}{masked}")
        return (*self._lines, *left)
