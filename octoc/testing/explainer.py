"""An explainer with fixed texts."""

from __future__ import annotations

from collections.abc import Mapping

from octoc.plugin import FailedCall, hookimpl


class ScriptedExplainer:
    """A plugin that explains failed calls with a text for each agent that has one, and keeps the calls in `asked`.

    It is callable too, for `Runtime.open(explain=…)`.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = dict(texts)
        self.asked: list[FailedCall] = []

    def __call__(self, failed: FailedCall) -> str | None:
        self.asked.append(failed)
        return self._texts.get(failed.caller.agent)

    @hookimpl
    def octoc_explain_failure(self, failed: FailedCall) -> str | None:
        return self(failed)
