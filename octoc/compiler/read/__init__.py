"""Text to values, with a way back from each value to its line and column."""

from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.stage import read
from octoc.compiler.read.text import text_reader

__all__ = ["SpanIndex", "read", "text_reader"]
