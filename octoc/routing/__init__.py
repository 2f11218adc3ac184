"""From a message to a decision without an LLM: clean it, score it, pass it through the gate.

Pure functions, shared by compiler and runtime, so that what is calibrated at build is exactly what runs.
numpy is loaded by `octoc.routing.router` and what it imports, never by this module.
"""

from octoc.routing.clean import MIN_INTENT_CHARS, clean_intent, is_routable
from octoc.routing.decision import Decision, Reason

__all__ = ["MIN_INTENT_CHARS", "Decision", "Reason", "clean_intent", "is_routable"]
