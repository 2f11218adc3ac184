"""What people ask agents for, in their own words: a library of needs that ships with octoc, one table of TOML a need.

A capability is known by a few triggers, which say little about how people talk. The needs that it meets bring it more
examples; those that no capability of a workspace meets are what its gate abstains from.
"""

from octoc.compiler.needs.library import Need, library_texts, shipped_needs, with_own

__all__ = ["Need", "library_texts", "shipped_needs", "with_own"]
