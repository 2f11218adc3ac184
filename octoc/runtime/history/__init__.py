"""Conversations: fit them into a budget, repair foreign ones, shorten old results. A call keeps its result."""

from octoc.runtime.history.age import AgedConversation, age
from octoc.runtime.history.fit import KEEP_TURNS, FittedConversation, message_tokens
from octoc.runtime.history.groups import message_groups
from octoc.runtime.history.pruners import FIFO, Fifo, Pruner, SlidingWindow, Summarize, Summarizer, fit, prune
from octoc.runtime.history.repair import INTERRUPTED, Repair, RepairedConversation, repair
from octoc.runtime.history.shapes import SHAPES, Message, Shape, shape_of

__all__ = [
    "FIFO",
    "INTERRUPTED",
    "KEEP_TURNS",
    "SHAPES",
    "AgedConversation",
    "Fifo",
    "FittedConversation",
    "Message",
    "Pruner",
    "Repair",
    "RepairedConversation",
    "Shape",
    "SlidingWindow",
    "Summarize",
    "Summarizer",
    "age",
    "fit",
    "message_groups",
    "message_tokens",
    "prune",
    "repair",
    "shape_of",
]
