"""Stage index: the tools as `find_tools` searches them."""

from octoc.compiler.index.stage import index

__all__ = ["index"]
