"""Lint checks as data, what they look at, and how a plugin makes one. Registered by the hook `octoc_lint_rules`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from octoc.diagnostics.rule import Requirement, Rule, Scope

if TYPE_CHECKING:
    from octoc.diagnostics.model import DiagnosticSink, Place
    from octoc.results import ServerListing


class LintSnapshot(Protocol):
    """The recorded tools of a server."""

    @property
    def listing(self) -> ServerListing: ...

    def place_of(self, index: int) -> Place:
        """Return where the tool `listing.tools[index]` stands in its file."""
        ...


class LintServer(Protocol):
    """A server of the workspace. Every secret in it is a reference."""

    @property
    def name(self) -> str: ...
    @property
    def place(self) -> Place: ...
    @property
    def transport(self) -> str: ...
    @property
    def command(self) -> str | None: ...
    @property
    def args(self) -> tuple[str, ...]: ...
    @property
    def env(self) -> Mapping[str, str]: ...
    @property
    def url(self) -> str | None: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def snapshot(self) -> LintSnapshot | None: ...


class LintWorkspace(Protocol):
    """What a check of a plugin looks at. `strict`: any error means that no bundle is written."""

    @property
    def servers(self) -> Sequence[LintServer]: ...
    @property
    def strict(self) -> bool: ...


Run = Callable[[Any, "DiagnosticSink"], None]
"""Looks at a workspace and reports to the sink."""


@attrs.define(frozen=True, slots=False)
class LintCheck:
    """A function over a workspace, and the rules that it may report. It runs where all that they need is there."""

    run: Run
    rules: tuple[Rule, ...]

    @cached_property
    def needs(self) -> frozenset[Requirement]:
        """What every rule needs."""
        return frozenset.intersection(*(rule.needs for rule in self.rules))

    @cached_property
    def is_of_one_file(self) -> bool:
        """Whether any rule applies to a file that is checked by itself."""
        return any(rule.scope is Scope.FILE for rule in self.rules)


def lint_check(*rules: Rule) -> Callable[[Run], LintCheck]:
    """Make a check of a function `(workspace, sink)`, which may report `rules` alone."""
    return lambda run: LintCheck(run, rules)
