"""Files of fixtures as what they say, each name with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.model.documents import Document, kept
from octoc.compiler.model.source import FixturesSource, Located, MessageSource, QuerySource
from octoc.compiler.structure.lists import texts
from octoc.diagnostics.model import Place
from octoc.routing.fixtures import NOTHING


def fixtures_source(document: Document) -> FixturesSource:
    """Return the fixtures of one file, in its order."""
    values, place = document.values, document.place()
    return FixturesSource(
        place=place,
        messages=tuple(_message(each, place.child("message", i)) for i, each in kept(values.get("message", ()))),
        queries=tuple(_query(each, place.child("search", i)) for i, each in kept(values.get("search", ()))),
    )


def _message(values: Mapping[str, Any], place: Place) -> MessageSource:
    expect = values["expect"]
    named = (
        (Located(expect.strip(), place.child("expect")),) if isinstance(expect, str) else texts(values, "expect", place)
    )
    return MessageSource(
        place=place,
        text=values["text"],
        expect=tuple(name for name in named if name.value != NOTHING),
        before=tuple(text for _, text in kept(values.get("before", ()))),
        agent=_agent(values, place),
        note=values.get("note", "").strip(),
    )


def _query(values: Mapping[str, Any], place: Place) -> QuerySource:
    return QuerySource(
        place=place,
        query=values["query"],
        tools=texts(values, "tools", place),
        agent=_agent(values, place),
        note=values.get("note", "").strip(),
    )


def _agent(values: Mapping[str, Any], place: Place) -> Located[str] | None:
    return Located(values["agent"].strip(), place.child("agent")) if "agent" in values else None
