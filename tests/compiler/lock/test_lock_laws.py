"""Laws of the lock's text: what is written is read again, and every difference is a change."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.bundle.refusal import BundleError
from octoc.compiler.context import Context
from octoc.compiler.lock.compare import changes
from octoc.compiler.lock.content import (
    EncoderLock,
    GateLock,
    LockContent,
    SearchLock,
    ServerLock,
    SettingsLock,
    SnapshotLock,
    TapLock,
    ToolPin,
)
from octoc.compiler.lock.text import NewerLockError, parse, text_of
from octoc.compiler.model.build import Build
from octoc.diagnostics.rule import Rule, Scope

ProductsMaker = Callable[..., Build]
ContextMaker = Callable[..., Context]
Changer = Callable[..., Build]
WRONG = Rule("OCT999", "wrong", "Something.", scope=Scope.BUILD)

_NAME = st.text(max_size=6)
_DIGEST = st.text("0123456789abcdef", min_size=4, max_size=4)
_CONTENT = st.builds(
    LockContent,
    settings=st.builds(
        SettingsLock,
        digest=_DIGEST,
        values=st.dictionaries(
            _NAME, st.booleans() | st.integers(-(2**63), 2**63 - 1) | _NAME | st.lists(_NAME), max_size=2
        ),
    ),
    taps=st.dictionaries(
        _NAME, st.builds(TapLock, digest=_DIGEST, files=st.dictionaries(_NAME, _DIGEST, max_size=3)), max_size=2
    ),
    files=st.dictionaries(_NAME, _DIGEST, max_size=2),
    providers=st.dictionaries(_NAME, _NAME, max_size=2),
    servers=st.dictionaries(_NAME, st.builds(ServerLock, definition=_DIGEST, package=_NAME), max_size=2),
    snapshots=st.dictionaries(
        _NAME,
        st.builds(
            SnapshotLock,
            digest=_DIGEST,
            tools=st.dictionaries(_NAME, st.builds(ToolPin, _DIGEST, _DIGEST, _DIGEST, _DIGEST, _DIGEST), max_size=2),
        ),
        max_size=2,
    ),
    encoder=st.none() | st.builds(EncoderLock, name=_NAME, identity=_DIGEST),
    gate=st.none()
    | st.builds(
        GateLock,
        kind=st.sampled_from(["calibrated", "octomind"]),
        background=_DIGEST,
        texts=st.dictionaries(_NAME, _DIGEST, max_size=2),
    ),
    search=st.none() | st.builds(SearchLock, tool_intents=_DIGEST),
    plugins=st.dictionaries(_NAME, _NAME, max_size=2),
)


@given(_CONTENT)
def test_what_is_written_is_read_and_written_alike(content: LockContent) -> None:
    """Any content, whatever its names, reads back equal, is the same text again, and differs in nothing from itself."""
    text = text_of(content)
    assert parse(text) == content
    assert text_of(parse(text)) == text
    assert changes(content, parse(text)) == ()


@given(_CONTENT, _CONTENT)
def test_every_difference_is_told(one: LockContent, other: LockContent) -> None:
    """Two contents that differ have at least one change between them, told once; equal ones have none."""
    found = changes(one, other)
    assert bool(found) == (one != other)
    assert len(set(found)) == len(found)


@given(st.text(max_size=40))
def test_any_text_is_a_lock_or_a_reason(text: str) -> None:
    """Reading any text raises only the two documented errors."""
    with pytest.raises((BundleError, NewerLockError)):
        parse(text)
