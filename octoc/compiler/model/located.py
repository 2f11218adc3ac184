"""A value and where it stands: what every source model is made of."""

from __future__ import annotations

from typing import Generic, TypeVar

import attrs

from octoc.diagnostics.model import Place

T = TypeVar("T")

KEY = "key"
"""Metadata of a model's field: the path of keys that it stands at in its file, where that is not its own name."""
OWN_NAME = ("*",)
"""The value of `KEY` for a field that takes the name of its own table."""


@attrs.frozen
class Located(Generic[T]):
    """A value and where it stands."""

    value: T
    place: Place
