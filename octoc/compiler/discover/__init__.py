"""From a folder to the files of a build: which there are, what each is, and what is left out and why."""

from octoc.compiler.discover.stage import discover

__all__ = ["discover"]
