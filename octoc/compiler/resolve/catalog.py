"""Find the capability of a tap that a reference means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.located import Located
from octoc.compiler.resolve.capabilities import ChosenProvider
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import UNKNOWN_CAPABILITY
from octoc.diagnostics.suggest import did_you_mean

_BASELINE = {"octomind": "muvon/tap"}
"""Prefix -> the tap that Octomind pins it to, unless a tap has the prefix in its own name."""


@attrs.frozen(kw_only=True)
class CapabilityCatalog:
    """Every capability by name, in the order of the taps, and the taps in order of precedence."""

    choices: Mapping[str, tuple[ChosenProvider, ...]]
    taps: tuple[str, ...]

    def winners(self) -> dict[str, ChosenProvider]:
        """Return bare name -> the capability of the first tap that has it."""
        return {name: choices[0] for name, choices in self.choices.items()}

    def name_of(self, chosen: ChosenProvider) -> str:
        """Return a capability's name in the bundle: the bare name for the winner, otherwise `<tap>/<name>`."""
        source = chosen.source
        return source.name if self.choices[source.name][0].source is source else f"{source.tap}/{source.name}"

    def find(self, reference: str, own_tap: str | None) -> ChosenProvider | None:
        """Return the capability that a reference means; None for an unknown one.

        A bare name means the capability of `own_tap`, otherwise that of the first tap that has it. `<tap>/<name>` and
        `<org>/<name>` mean the capability of one tap. Source: Octomind, capability references.
        """
        prefix, _, bare = reference.rpartition("/")
        choices = self.choices.get(bare, ())
        if prefix:
            tap = self.tap_of(prefix)
            return next((one for one in choices if one.source.tap == tap), None)
        own = next((one for one in choices if one.source.tap == own_tap), None)
        return own or next(iter(choices), None)

    def tap_of(self, prefix: str) -> str | None:
        """Return the tap named `prefix`, otherwise the first one whose name starts with `<prefix>/`."""
        if prefix in self.taps:
            return prefix
        of_org = next((tap for tap in self.taps if tap.startswith(f"{prefix}/")), None)
        baseline = _BASELINE.get(prefix)
        return of_org or (baseline if baseline in self.taps else None)

    def used(self, references: Iterable[tuple[str, str | None]]) -> tuple[ChosenProvider, ...]:
        """Return the winners, then the other capabilities that (reference, own tap) pairs mean."""
        by_name = {self.name_of(chosen): chosen for chosen in self.winners().values()}
        for reference, own_tap in references:
            chosen = self.find(reference, own_tap)
            if chosen is not None:
                by_name.setdefault(self.name_of(chosen), chosen)
        return tuple(by_name.values())


def known_capabilities(
    references: Sequence[Located[str]],
    catalog: CapabilityCatalog,
    what: str,
    sink: DiagnosticSink,
    own_tap: str | None = None,
) -> tuple[str, ...]:
    """Return the bundle's names of the capabilities that `references` mean, in their order; report unknown ones."""
    names: dict[str, None] = {}
    for reference in references:
        chosen = catalog.find(reference.value, own_tap)
        if chosen is not None:
            names[catalog.name_of(chosen)] = None
            continue
        prefix, _, bare = reference.value.rpartition("/")
        tap = catalog.tap_of(prefix) if prefix else None
        help_: str | None
        if prefix and tap is None:
            problem = f"{what} asks for a capability of tap `{prefix}`, which octoc.toml does not name"
            help_ = did_you_mean(prefix, catalog.taps) or f"write `{bare}`, or add a `[[taps]]`"
        elif prefix:
            problem = f"{what} asks for capability `{bare}` of tap `{tap}`, which has none of this name"
            others = [one.source.tap for one in catalog.choices.get(bare, ())]
            help_ = f"tap `{others[0]}` has one: write `{bare}`" if others else did_you_mean(bare, catalog.choices)
        else:
            problem = f"{what} asks for capability `{bare}`, which no tap has"
            help_ = did_you_mean(bare, catalog.choices)
        sink.report(
            UNKNOWN_CAPABILITY,
            problem,
            at=reference.place,
            help=help_,
            fix=None if prefix else renamed(reference.place, bare, catalog.choices.keys()),
        )
    return tuple(names)
