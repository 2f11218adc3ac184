"""The languages that the vectors of a build cover, and the second encoder for others."""

from __future__ import annotations

from collections.abc import Sequence

from octoc.bundle.model import Encoder
from octoc.compiler.context import Context
from octoc.compiler.model.resolved import Capability
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.plugin import ENCODER_MISSING
from octoc.installation import install_command
from octoc.plugin import Embedder, LanguageEmbedder, PluginError, SecondEmbedder

_SHIPPED, _PLUGIN, _PACKAGE = "use-multilingual", "embed-multilingual", "octoc-embed-multilingual"


def covered_languages(embedder: Embedder, capabilities: Sequence[Capability]) -> tuple[str, ...]:
    """Return the languages of the encoder and of the triggers, sorted; empty if the encoder covers every language.

    A language that half of the capabilities have triggers in is evidence of none of them, so its vectors count.
    """
    if not isinstance(embedder, LanguageEmbedder):
        return ()
    from octoc.routing.languages import languages_of  # loads the words of a search, which a check never needs

    triggers = [[trigger.value for trigger in capability.triggers] for capability in capabilities]
    return tuple(sorted({*embedder.languages, *languages_of(texts for texts in triggers if texts)}))


def second_encoder(embedder: Embedder, settings: WorkspaceSettings, context: Context) -> Encoder | None:
    """Return the workspace's encoder of messages in languages that `embedder` does not cover, or None without one.

    Its vectors compare with those of `embedder`, which encodes all texts of the build, so a build needs only to record
    it. One that no plugin has, or that fails, is a warning: such messages are then decided by words.
    """
    name = settings.routing.other_languages
    if not name:
        return None
    try:
        second = context.plugins.make_embedder(name)
        if isinstance(second, SecondEmbedder) and second.space == embedder.identity:
            return Encoder(
                name=second.name,
                identity=second.identity,
                dimension=second.dimension,
                languages=tuple(sorted(second.languages)),
            )
        problem = "no plugin of `[plugins] use` has it" if second is None else f"it is not made for `{embedder.name}`"
    except PluginError as error:
        problem = str(error)
    context.sink.report(
        ENCODER_MISSING,
        f"the encoder `{name}` of other languages is not used: {problem}",
        at=settings.place.child("routing", "other_languages"),
        help=None if name != _SHIPPED else f"run `{install_command(_PACKAGE)}`, and add `{_PLUGIN}` to `[plugins] use`",
        severity=Severity.WARNING,
    )
    return None
