"""octoc's tools, routing and history for agents of pydantic-ai."""

from octoc_pydantic_ai.capability import Octoc
from octoc_pydantic_ai.history import shortened
from octoc_pydantic_ai.toolset import OctocToolset

__all__ = ["Octoc", "OctocToolset", "shortened"]
