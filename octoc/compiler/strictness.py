"""When errors keep a build from writing: `--strict`, and always in production mode."""

from __future__ import annotations

from octoc.compiler.context import Context
from octoc.compiler.model.resolved import Calibrated
from octoc.diagnostics.rule import Severity


def is_strict(calibrated: Calibrated, context: Context) -> bool:
    """Tell whether any error means that nothing is written."""
    settings = calibrated.embedded.described.scoped.resolved.sources.discovered.settings
    return context.strict or settings.mode == "production"


def is_withheld(calibrated: Calibrated, context: Context) -> bool:
    """Tell whether the build is strict and there are errors."""
    return is_strict(calibrated, context) and context.sink.worst() == Severity.ERROR
