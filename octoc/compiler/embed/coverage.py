"""The languages that the vectors of a build cover."""

from __future__ import annotations

from collections.abc import Sequence

from octoc.compiler.model.resolved import Capability
from octoc.plugin import Embedder, LanguageEmbedder
from octoc.routing.languages import languages_of


def covered_languages(embedder: Embedder, capabilities: Sequence[Capability]) -> tuple[str, ...]:
    """Return the languages of the encoder and of the triggers, sorted; empty if the encoder covers every language.

    A language that half of the capabilities have triggers in is evidence of none of them, so its vectors count.
    """
    if not isinstance(embedder, LanguageEmbedder):
        return ()
    triggers = [[trigger.value for trigger in capability.triggers] for capability in capabilities]
    return tuple(sorted({*embedder.languages, *languages_of(texts for texts in triggers if texts)}))
