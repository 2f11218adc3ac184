"""Rules over agents: what octoc and other clients read differently, or only in part."""

from __future__ import annotations

from octoc.compiler.lint.agents.budget import check_budget
from octoc.compiler.lint.agents.fields import check_descriptions, check_empty_tools, check_models
from octoc.compiler.lint.agents.surface import check_surface
from octoc.compiler.lint.agents.tools import check_bare_tools

__all__ = ["CHECKS"]

CHECKS = (check_empty_tools, check_descriptions, check_models, check_bare_tools, check_surface, check_budget)
