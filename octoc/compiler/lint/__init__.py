"""lint: rules over the whole workspace. To add one, write a function in a module here and name it in `RULES`."""

from __future__ import annotations

from collections.abc import Callable

from octoc.compiler.context import Context
from octoc.compiler.lint.capabilities import check_substance, check_triggers
from octoc.compiler.lint.servers import check_pins, check_urls
from octoc.compiler.model.resolved import Calibrated, Scoped
from octoc.diagnostics.model import DiagnosticSink

__all__ = ["RULES", "lint"]

RULES: tuple[Callable[[Scoped, DiagnosticSink], None], ...] = (check_triggers, check_substance, check_pins, check_urls)


def lint(calibrated: Calibrated, context: Context) -> Calibrated:
    """Run every rule; the product is passed on as it is."""
    scoped = calibrated.embedded.described.scoped
    for rule in RULES:
        rule(scoped, context.sink)
    return calibrated
