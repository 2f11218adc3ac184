"""octoc: a compiler of declared agent tools, and the thin runtime that runs what it compiled."""

__version__ = "0.1.0"
