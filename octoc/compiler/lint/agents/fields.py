"""Rules over an agent's front matter."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from octoc.compiler.fixes.edits import replaced
from octoc.compiler.model.build import Build
from octoc.compiler.model.source import AgentSource
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_agents import EMPTY_TOOLS, LONG_DESCRIPTION, UNUSUAL_MODEL
from octoc.diagnostics.suggest import did_you_mean, near_miss, typo_of
from octoc.lists import name_list
from octoc.plugin.lint import lint_check

MAX_DESCRIPTION = 200
"""Octo cuts a longer description to its first sentence, or to this many characters."""
_SENTENCE_FROM = 50
_SENTENCE_BEFORE = 300
# Source: Octo, tiers of models. Octo takes any other text for the name of a model, which contains one of the marks.
_TIERS = ("high", "low", "default", "inherit")
# Source: Claude Code, model configuration (2.1). Any other text is the name of a model.
_CLAUDE_MODELS = ("sonnet", "opus", "haiku", "opusplan", "inherit", "default")
_MARKS_OF_A_NAME = frozenset(".-/")


@lint_check(EMPTY_TOOLS)
def check_empty_tools(build: Build, sink: DiagnosticSink) -> None:
    """Report an empty `tools` of Octo's agents, which octoc reads as no tool, and Octo as every tool.

    Claude Code gives its own agents no tool, as they ask.
    """
    for agent in _markdown(build):
        if agent.kind != "claude" and agent.tools == () and agent.type not in ("supervisor", "project"):
            sink.report(
                EMPTY_TOOLS,
                f"`tools` of agent `{agent.name}` is empty: octoc gives it no tool, Octo gives it every tool",
                at=agent.place.child("tools"),
                help="remove `tools` to inherit every tool, or name those that the agent needs",
            )


@lint_check(LONG_DESCRIPTION)
def check_descriptions(build: Build, sink: DiagnosticSink) -> None:
    """Report a description that Octo's routing cuts, at the part that it does not show."""
    for agent in _markdown(build):
        shown = shown_length(agent.description)
        if agent.kind == "octo" and shown < len(agent.description):
            sink.report(
                LONG_DESCRIPTION,
                f"the description of agent `{agent.name}` has {len(agent.description)} characters: "
                f"Octo's routing shows the first {shown}",
                at=attrs.evolve(agent.place.child("description"), within=(shown, len(agent.description))),
                label="not shown",
                help=f"say in the first sentence, within {MAX_DESCRIPTION} characters, when the agent is the right one",
            )


@lint_check(UNUSUAL_MODEL)
def check_models(build: Build, sink: DiagnosticSink) -> None:
    """Report a `model` that Octo or Claude Code does not know and that does not look like the name of a model."""
    # A file that another agent of the name shadows has the same mistake.
    for agent in build.sources.agents:
        model = agent.model
        if (
            agent.kind == "claude"
            and model
            and (near := near_miss(model, _CLAUDE_MODELS) or typo_of(model, _CLAUDE_MODELS))
        ):
            at = agent.place.child("model")
            sink.report(
                UNUSUAL_MODEL,
                f"Claude Code has no model `{model}`",
                at=at,
                help=f"did you mean `{near}`?",
                fix=replaced(at, model, near, f"write `{near}`"),
            )
        if agent.kind != "octo" or not model or model in _TIERS or _MARKS_OF_A_NAME & set(model):
            continue
        sink.report(
            UNUSUAL_MODEL,
            f"`{model}` is neither a tier of Octo nor a model's name",
            at=agent.place.child("model"),
            help=did_you_mean(model, _TIERS) or f"a tier is {name_list(_TIERS)}",
        )


def shown_length(description: str) -> int:
    """Return how many characters of a description Octo's routing shows: all, up to its first full stop, or 200.

    Source: Octo, routing descriptions.
    """
    if len(description) <= MAX_DESCRIPTION:
        return len(description)
    stop = description.find(".", _SENTENCE_FROM)
    return stop + 1 if 0 <= stop < _SENTENCE_BEFORE else MAX_DESCRIPTION


def _markdown(build: Build) -> Iterator[AgentSource]:
    """Yield the agents that have front matter; the supervisor that octoc adds has no file."""
    return (agent.source for agent in build.resolved.agents if agent.source.kind in ("octo", "claude"))
