"""Rules over recorded tools, and over the texts of files that reach a model's prompt."""

from __future__ import annotations

from octoc.compiler.lint.tools.drift import check_drift
from octoc.compiler.lint.tools.models import check_aliases, check_descriptions, check_providers
from octoc.compiler.lint.tools.prompt_injection import check_texts
from octoc.compiler.lint.tools.schemas import check_schemas

__all__ = ["CHECKS"]

CHECKS = (
    check_schemas,
    check_providers,
    check_descriptions,
    check_aliases,
    check_texts,
    check_drift,
)
