"""The record that goes through the pipeline: one slot for the product of each stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import attrs

from octoc.compiler.model.documents import Discovered, Documents
from octoc.compiler.model.resolved import Calibrated, Embedded, Emitted, Locked, Resolved, Scoped, SearchIndex
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import Sources


class _Unfilled:
    """The value of a slot whose stage did not run."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"the stage that makes `{name}` did not run")


_UNFILLED: Any = _Unfilled()


@attrs.frozen(kw_only=True)
class Build:
    """One build: the settings, and what each stage made of them. A stage returns the record with its slot filled.

    A check runs neither embed, calibrate and index nor lock and emit. The first three then have empty products; reading
    from any other slot whose stage did not run raises AttributeError.
    """

    settings: WorkspaceSettings
    discovered: Discovered = _UNFILLED
    documents: Documents = _UNFILLED
    """Every file that could be read."""
    checked: Documents = _UNFILLED
    """The same files without what is unsound in them."""
    sources: Sources = _UNFILLED
    resolved: Resolved = _UNFILLED
    scoped: Scoped = _UNFILLED
    prompts: Mapping[str, str] = _UNFILLED
    """Agent -> prompt section on its servers; an agent that gets none is absent."""
    embedded: Embedded = attrs.field(factory=Embedded)
    calibrated: Calibrated = attrs.field(factory=Calibrated)
    search: SearchIndex = attrs.field(factory=SearchIndex)
    locked: Locked = _UNFILLED
    emitted: Emitted = _UNFILLED
