"""A value and where it stands: what every source model is made of."""

from __future__ import annotations

from typing import Generic, TypeVar

import attrs

from octoc.diagnostics.model import Place

T = TypeVar("T")


@attrs.frozen
class Located(Generic[T]):
    """A value and where it stands."""

    value: T
    place: Place
