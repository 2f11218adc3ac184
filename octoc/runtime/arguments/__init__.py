"""Arguments of a call, judged by the tool's schema before anything is sent."""

from octoc.runtime.arguments.check import ArgumentChecks, policy_of
from octoc.runtime.arguments.words import Problem

__all__ = ["ArgumentChecks", "Problem", "policy_of"]
