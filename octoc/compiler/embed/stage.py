"""Stage embed: encode every text that routing needs; the cache has the vectors of earlier texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from octoc.compiler.calibrate.needs.library import library_texts
from octoc.compiler.calibrate.own import all_examples, all_needs
from octoc.compiler.calibrate.precision import fixture_intents
from octoc.compiler.calibrate.texts import chat_lines, distinct_texts, follow_up_lines, further_background
from octoc.compiler.context import Context
from octoc.compiler.embed.coverage import covered_languages, second_encoder
from octoc.compiler.embed.encoder_findings import ROUTING, report_failed, report_missing
from octoc.compiler.embed.encoder_settings import settings_in_bundle
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Embedded
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.plain_text import words_of
from octoc.plugin import PluginError
from octoc.plugin.folders import located
from octoc.routing.skill_rules import phrases_of

if TYPE_CHECKING:
    from octoc.compiler.embed.vectors import Vector
    from octoc.plugin import Embedder

_WHAT = "encoding texts"


def embed(build: Build, context: Context) -> Build:
    """Encode the texts that routing needs, and fill `embedded` with their vectors."""
    return attrs.evolve(build, embedded=embedded_of(build, context))


def embedded_of(build: Build, context: Context) -> Embedded:
    """Return vectors of triggers, of the calibrated gate's training texts, and of phrases in skills' rules.

    Without such texts no encoder is loaded. An encoder that is missing or fails is an error, or a warning with
    `context.allow_degraded`; `triggers` of the product is then None.
    """
    resolved, settings = build.resolved, build.settings
    phrases = phrases_of(rule.value for skill in resolved.skills for rule in skill.source.rules)
    texts = tuple(dict.fromkeys([*_texts(build), *phrases]))
    if not texts:
        return Embedded()
    try:
        embedder = _made(settings, context)
        if embedder is None:
            return Embedded()
        from octoc.compiler.embed.vectors import vectors_of  # loads numpy, which a check never needs

        vectors = vectors_of(texts, embedder, context.cache, _advance(context, settings.routing.encoder))
        files = embedder.files() if settings.routing.ship_encoder else {}
        own = settings_in_bundle(settings.routing.encoder_settings, context.root, is_shipped=bool(files))
        made = _product(build, embedder, vectors, files)
        second = second_encoder(embedder, settings, context)
        return attrs.evolve(made, phrases=_stacked(vectors, phrases), encoder_settings=own, second=second)
    except PluginError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  # no exception of a plugin may stop the build
        problem = words_of(error) or "it does not say why"
    report_failed(problem, settings, context, use=ROUTING)
    return Embedded()


def _texts(build: Build) -> tuple[str, ...]:
    if build.settings.routing.gate == "octomind":
        triggers = (trigger.value for capability in build.resolved.capabilities for trigger in capability.triggers)
        return tuple(dict.fromkeys(triggers))
    found = all_examples(build)
    if not any(example.capability is not None for example in found):
        return ()
    needs = all_needs(build)
    library = (*library_texts(needs), *distinct_texts(further_background())) if needs else ()
    shipped = (*follow_up_lines(), *chat_lines(), *library)
    return tuple(dict.fromkeys((*distinct_texts(found), *shipped, *fixture_intents(build))))


def _made(settings: WorkspaceSettings, context: Context) -> Embedder | None:
    """Return the workspace's encoder; report one that no plugin has and return None. Raises: PluginError."""
    name = settings.routing.encoder
    embedder = context.plugins.make_embedder(name, located(settings.routing.encoder_settings, context.root))
    if embedder is None:
        report_missing(settings, context, use=ROUTING)
    return embedder


def _product(build: Build, embedder: Embedder, vectors: Mapping[str, Vector], files: Mapping[str, bytes]) -> Embedded:
    capabilities = build.resolved.capabilities
    triggers = [trigger.value for capability in capabilities for trigger in capability.triggers]
    return Embedded(
        encoder=embedder,
        encoder_name=embedder.name,
        identity=embedder.identity,
        dimension=embedder.dimension,
        languages=covered_languages(embedder, capabilities),
        triggers=_stacked(vectors, triggers),
        texts=vectors,
        encoder_files=files,
    )


def _stacked(vectors: Mapping[str, Vector], texts: Sequence[str]) -> Vector | None:
    import numpy as np

    return np.stack([vectors[text] for text in texts]).astype(np.float32, copy=False) if texts else None


def _advance(context: Context, encoder: str) -> Callable[[int, int], None]:
    return lambda done, total: context.progress(f"{_WHAT} with `{encoder}`", done, total)
