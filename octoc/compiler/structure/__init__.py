"""Checked values -> the source model: every dialect becomes one form. It cannot fail after check."""

from octoc.compiler.structure.settings import load_settings, settings_from
from octoc.compiler.structure.stage import structure

__all__ = ["load_settings", "settings_from", "structure"]
