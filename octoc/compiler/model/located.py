"""A value and where it stands: what every source model is made of."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

import attrs

from octoc.diagnostics.model import Place

T = TypeVar("T")

KEY = "key"
"""Metadata of a model's field: the path of keys that it stands at in its file, where that is not its own name."""
MARKDOWN, MANIFEST = "markdown", "manifest"
"""Metadata like `KEY` for a model with two forms of files. A form does not have the fields without its path."""
OWN_NAME = ("*",)
"""The value of `KEY` for a field that takes the name of its own table."""


@attrs.frozen
class Located(Generic[T]):
    """A value and where it stands."""

    value: T
    place: Place


BY_COMMA, BY_SPACE, BY_LINE = "comma", "space", "line"
"""How several names may stand in one string."""

Stripped = Annotated[str, "stripped"]
"""A text whose file may have blanks around it."""
NamesByComma = Annotated[tuple[Located[str], ...], BY_COMMA]
"""A list of names, or one string with commas (`Read, Bash(git log:*)`)."""
NamesBySpace = Annotated[tuple[Located[str], ...], BY_SPACE]
"""A list of names, or one string with spaces or commas, in brackets or not (`[git, fetch]`)."""
Lines = Annotated[tuple[Located[str], ...], BY_LINE]
"""A list of lines, or one string of several lines."""
