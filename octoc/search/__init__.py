"""Finding tools: words, fields, the index and the ranking, which compiler and runtime share.

numpy is loaded by `octoc.search.index` and `octoc.search.rank`, never by this module.
"""

__all__ = ["BY_MEANING", "DEFAULT_LIMIT", "OCTO"]

DEFAULT_LIMIT = 15
"""How many tools an answer has at most."""
OCTO = "octo"
"""Octo's own rule: how many words of the query are in a tool's name and description."""
BY_MEANING = ("default",)
