"""Finding tools: words, fields, the index and the ranking, which compiler and runtime share.

numpy is loaded by `octoc.search.index` and `octoc.search.rank`, never by this module.
"""

from typing import Final

__all__ = ["BY_MEANING", "DEFAULT_LIMIT", "LOADED_LIMIT", "OCTO"]

DEFAULT_LIMIT = 15
"""The most tools in an answer."""
LOADED_LIMIT = 5
"""The most tools in an answer that makes a provider load their whole definitions, as Anthropic's own search does."""
OCTO: Final = "octo"
"""Octo's own rule: the number of query words in a tool's name and description."""
BY_MEANING = ("default",)
