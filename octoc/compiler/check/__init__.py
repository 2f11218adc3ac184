"""Values x schema -> diagnostics in our words, and values without what is unsound."""

from octoc.compiler.check.stage import check

__all__ = ["check"]
