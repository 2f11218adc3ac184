"""An explainer whose words are known before."""

from __future__ import annotations

from collections.abc import Mapping

from octoc.plugin import FailedCall, hookimpl


class ScriptedExplainer:
    """A plugin that explains failed calls with a text for each agent that has one, and keeps what it was asked.

    It can be called too, as what `Runtime.open(explain=…)` takes.
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
