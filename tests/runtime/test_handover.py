"""A session's record: another process continues with the same capabilities and skills, in the limits of its bundle."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from octoc.runtime import Runtime, SessionRecord, merged
from octoc.testing import WorkspaceBuilder


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with four capabilities, of which two may be active at once."""
    workspace = WorkspaceBuilder(tmp_path_factory.mktemp("handover")).settings("routing", max_active=2)
    workspace.settings("search", bind="never")
    for name in ("mail", "maps", "notes", "music"):
        server = {"name": f"{name}-server", "command": "absent"}
        workspace.capability(name, (f"use {name}", f"open {name}"), server=server, allowed_tools=[f"{name}-server:*"])
        workspace.snapshot(f"{name}-server", [f"{name}_tool"])
    built = workspace.build()
    assert built.bundle is not None, built
    return built.bundle


def test_a_session_continues_with_what_the_record_names_and_this_bundle_has(bundle: Path) -> None:
    """Unknown names are left out, the least recently used beyond the limit too; the order of activation stays."""

    async def scenario() -> None:
        async with Runtime.open(bundle) as runtime:
            session = runtime.session()
            names = ("notes", "gone", "mail", "maps")
            await session.take_over(SessionRecord(active=names, by_last_use=("notes", "gone", "maps", "mail")))
            assert list(session.capabilities) == ["mail", "maps"]
            assert session.record().by_last_use == ("maps", "mail")
            assert {"mail-server", "maps-server"} == runtime.state.references.servers_of(
                (session.state.number, name) for name in session.capabilities
            )
            await session.take_over(SessionRecord(active=("music",), by_last_use=("music",)))
            assert list(session.capabilities) == ["music"]
            assert not runtime.state.references.is_needed("mail-server")
            await session.take_over(SessionRecord())
            assert session.record() == SessionRecord()
            await session.close()

    asyncio.run(scenario())


def test_changes_of_two_processes_since_the_same_record_are_merged() -> None:
    """What one added and the other removed are both in the result; names that only the record has stay."""
    before = SessionRecord(active=("a", "b"), by_last_use=("a", "b"), skills=("s",))
    theirs = SessionRecord(active=("b", "c", "elsewhere"), by_last_use=("elsewhere", "b", "c"), skills=("s", "t"))
    mine = SessionRecord(active=("a", "b", "d"), by_last_use=("b", "a", "d"), has_stored=True)
    assert merged(theirs, before, mine) == SessionRecord(
        active=("b", "c", "elsewhere", "d"),
        by_last_use=("elsewhere", "c", "b", "d"),
        skills=("t",),
        has_stored=True,
    )
    assert merged(theirs, before, before) == theirs
