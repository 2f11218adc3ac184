"""Needs, expanded triggers and background of the workspace as what they say."""

from __future__ import annotations

from octoc.compiler.model.documents import Document, kept
from octoc.compiler.model.source import ExpansionSource, NeedSource


def need_sources(document: Document) -> tuple[NeedSource, ...]:
    """Return the needs of one file, in its order."""
    return tuple(
        NeedSource(
            place=document.place(name),
            name=name,
            about=need["about"].strip(),
            says=tuple(text for _, text in kept(need["says"])),
        )
        for name, need in document.values.items()
    )


def expansion_sources(document: Document) -> tuple[ExpansionSource, ...]:
    """Return what is written for each capability, in the file's order."""
    return tuple(
        ExpansionSource(
            place=document.place(name),
            capability=name,
            triggers=expanded["triggers"],
            answered=tuple(expanded.get("answered", ())),
            says=tuple(text for _, text in kept(expanded["says"])),
        )
        for name, expanded in document.values.items()
    )


def background_texts(document: Document) -> tuple[str, ...]:
    """Return the lines of one file."""
    return tuple(document.values["lines"])
