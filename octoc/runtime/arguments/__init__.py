"""Arguments of a call, judged by the tool's schema before anything is sent."""

from octoc.runtime.arguments.check import OFF, WARN, ArgumentChecks, misfit, policy_of, refusal
from octoc.runtime.arguments.words import Problem, quoted, type_word

__all__ = ["OFF", "WARN", "ArgumentChecks", "Problem", "misfit", "policy_of", "quoted", "refusal", "type_word"]
