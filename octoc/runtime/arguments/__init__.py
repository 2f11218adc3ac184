"""Arguments of a call, judged by the tool's schema before anything is sent."""

from octoc.runtime.arguments.check import OFF, WARN, ArgumentChecks, misfit, refusal
from octoc.runtime.arguments.words import Problem, quoted, type_word

__all__ = ["OFF", "WARN", "ArgumentChecks", "Problem", "misfit", "quoted", "refusal", "type_word"]
