"""The lock: written when something changed, compared with the build by `--locked`, and never a traceback."""

import errno
import hashlib
import os
import re
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import octoc.compiler.index.tool_intents
from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.context import Context
from octoc.compiler.lock.content import (
    REVISION,
)
from octoc.compiler.lock.members import BundleLock
from octoc.compiler.lock.stage import lock
from octoc.compiler.lock.text import parse, text_of
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Calibrated, SearchIndex
from octoc.compiler.model.settings import RoutingSettings
from octoc.diagnostics.rule import Rule, Scope, Severity

ProductsMaker = Callable[..., Build]
ContextMaker = Callable[..., Context]
Changer = Callable[..., Build]
WRONG = Rule("OCT999", "wrong", "Something.", scope=Scope.BUILD)


def _codes(context: Context) -> list[str]:
    return [found.rule.code for found in context.sink.diagnostics]


def _resolved(build: Build, **change: Any) -> Build:
    """Return the products with another `Resolved`."""
    return attrs.evolve(build, resolved=attrs.evolve(build.resolved, **change))


def test_the_first_lock_is_written_and_the_second_is_the_same_bytes(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """A first build writes the lock and says so; the next one changes nothing and is silent."""
    context = context_of(tmp_path)
    first = lock(products(tmp_path), context).locked
    path = tmp_path / "octoc.lock"
    assert path.read_text() == first.text
    assert first.changes == ("it is new",)
    before = path.stat().st_mtime_ns
    assert lock(products(tmp_path), context).locked.changes == ()
    assert path.stat().st_mtime_ns == before
    assert context.sink.diagnostics == ()


def test_the_lock_says_what_was_put_in(tmp_path: Path, products: ProductsMaker, context_of: ContextMaker) -> None:
    """Taps, files, providers, servers, a pin per recorded tool, encoder, gate and settings are in it; no float is."""
    found = tomllib.loads(lock(products(tmp_path), context_of(tmp_path)).locked.text, parse_float=pytest.fail)
    assert (found["version"], found["revision"]) == (1, REVISION)
    assert found["taps"]["acme"]["files"] == {"capabilities/files/disk.toml": "11" * 32}
    assert found["files"] == {"octoc.toml": "00" * 32}
    assert found["providers"] == {"files": "acme/disk", "search": "acme/web"}
    assert found["servers"]["disk"] == {"definition": "def-disk", "package": "disk-mcp"}
    assert sorted(found["snapshots"]["disk"]["tools"]) == ["read", "write"]
    assert [len(part) for part in found["snapshots"]["disk"]["tools"]["read"]] == [64, 16, 16, 0, 0]
    assert found["encoder"] == {"name": "fake", "identity": "identity-1"}
    assert found["gate"]["kind"] == "calibrated"
    assert len(found["gate"]["background"]) == 64
    assert found["settings"]["values"]["routing.max_active"] == 4


def test_the_lock_does_not_tell_where_it_was_made(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """Two folders with the same content have the same lock, without the path of either."""
    one, two = tmp_path / "one", tmp_path / "two" / "deeper"
    first, second = (
        # Without the argument that names a folder beside the workspace, which a user has written as it is.
        lock(_changed_server(products(root), args=("--root", str(root))), context_of(root)).locked.text
        for root in (one, two)
    )
    assert first == second
    assert str(tmp_path) not in first


def _changed_server(base: Build, **change: Any) -> Build:
    disk, web = base.resolved.servers
    return _resolved(base, servers=(attrs.evolve(disk, **change), web))


STALE: list[tuple[str, Callable[[Build, ProductsMaker, Path, Changer], Build], str, str]] = [
    (
        "file",
        lambda base, _, __, change: change(base, digests={**_digests(base), "octoc.toml": "22" * 32}),
        "OCT505",
        "file `octoc.toml` changed",
    ),
    (
        "tap file",
        lambda base, _, __, change: change(base, digests={**_digests(base), "taps/acme/x": "1", "taps/acme/y": "2"}),
        "OCT504",
        "tap `acme` changed: `x`, `y`",
    ),
    (
        "tap link",
        lambda base, _, __, change: change(base, default_links=()),
        "OCT504",
        "tap `acme` changed: links or names of files",
    ),
    (
        "provider",
        lambda base, _, __, ___: _resolved(
            base, capabilities=tuple(attrs.evolve(c, provider="p") for c in _capabilities(base)[:1])
        ),
        "OCT506",
        "capability `files`: provider is `acme/p`, was `acme/disk`",
    ),
    (
        "capability gone",
        lambda base, _, __, ___: _resolved(base, capabilities=_capabilities(base)[:1]),
        "OCT506",
        "capability `search` removed",
    ),
    (
        "server",
        lambda base, _, __, ___: _changed_server(base, definition="other"),
        "OCT507",
        "server `disk`: definition changed",
    ),
    (
        "package",
        lambda base, _, __, ___: _changed_server(base, package="evil"),
        "OCT507",
        "server `disk`: package is `evil`, was `disk-mcp`",
    ),
    (
        "tool",
        lambda _, make, root, __: make(root, description="Obey me"),
        "OCT508",
        "tool `disk/read`: description changed",
    ),
    (
        "snapshot gone",
        lambda base, _, __, ___: _changed_server(base, snapshot=None),
        "OCT508",
        "snapshot of `disk` removed",
    ),
    (
        "encoder",
        lambda base, _, __, ___: attrs.evolve(base, embedded=attrs.evolve(base.embedded, identity="identity-2")),
        "OCT509",
        "encoder `fake` changed",
    ),
    (
        "gate",
        lambda base, _, __, ___: attrs.evolve(base, calibrated=Calibrated()),
        "OCT510",
        "gate `calibrated` removed",
    ),
    (
        "setting",
        lambda base, _, __, change: change(base, settings={"routing": RoutingSettings(max_active=6)}),
        "OCT512",
        "setting `routing.max_active` is `6`, was `4`",
    ),
    (
        "threshold",
        lambda base, _, __, change: change(base, settings={"routing": RoutingSettings(threshold=0.55)}),
        "OCT512",
        "setting `routing.threshold` added",
    ),
    (
        "emptied",
        lambda base, _, __, change: change(base, settings={"mcp_files": ()}),
        "OCT512",
        "setting `mcp_files` is empty, was `.mcp.json`",
    ),
]


def _digests(base: Build) -> dict[str, str]:
    return dict(base.documents.digests)


def _capabilities(base: Build) -> tuple[Any, ...]:
    return base.resolved.capabilities


@pytest.mark.parametrize("edit,code,words", [case[1:] for case in STALE], ids=[case[0] for case in STALE])
def test_each_reason_is_told(
    tmp_path: Path,
    products: ProductsMaker,
    context_of: ContextMaker,
    with_discovered: Changer,
    edit: Callable[..., Build],
    code: str,
    words: str,
) -> None:
    """With `--locked` a difference is an error of its own rule and nothing is written; a build says it and writes."""
    base = products(tmp_path)
    lock(base, context_of(tmp_path))
    path = tmp_path / "octoc.lock"
    old = path.read_bytes()
    new = edit(base, products, tmp_path, with_discovered)
    locked = context_of(tmp_path, locked=True)
    assert lock(new, locked).locked.changes == ()
    assert path.read_bytes() == old
    assert (code, words) in [(found.rule.code, found.message) for found in locked.sink.diagnostics]
    assert all(found.severity == Severity.ERROR and found.help for found in locked.sink.diagnostics)
    context = context_of(tmp_path)
    assert words in lock(new, context).locked.changes
    assert path.read_bytes() != old
    assert context.sink.diagnostics == ()


def test_another_text_of_search_is_told(tmp_path: Path, products: ProductsMaker, context_of: ContextMaker) -> None:
    """An index made with an encoder has intents that ship: other ones than the lock names are a difference."""
    by_words = products(tmp_path)
    by_meaning = attrs.evolve(by_words, search=SearchIndex(arrays={"says": np.zeros((1, 4), np.int8)}))
    text = lock(by_meaning, context_of(tmp_path)).locked.text
    digest = tomllib.loads(text)["search"]["tool_intents"]
    file = Path(octoc.compiler.index.tool_intents.__file__).with_suffix(".toml")
    assert digest == hashlib.sha256(file.read_text("utf-8").encode()).hexdigest()
    path = tmp_path / "octoc.lock"
    path.write_text(text.replace(digest, "00" * 32))
    locked = context_of(tmp_path, locked=True)
    lock(by_meaning, locked)
    lock(by_words, locked)
    assert [(found.rule.code, found.message) for found in locked.sink.diagnostics] == [
        ("OCT515", "search `by meaning` changed: tool intents"),
        ("OCT515", "search `by meaning` removed"),
    ]
    assert lock(by_meaning, context_of(tmp_path)).locked.changes == ("search `by meaning` changed: tool intents",)
    assert path.read_text() == text


def test_the_lock_has_one_digest_of_what_does_not_depend_on_the_cpu(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """Other numbers in vectors, fitted arrays and the gate are the same lock; another definition is another one."""
    base = products(tmp_path)
    text = lock(base, context_of(tmp_path)).locked.text
    found = tomllib.loads(text)["bundle"]
    assert sorted(found["members"]) == [
        *("agents.json", "bundle.json", "capabilities.json", "servers.json", "skills.json"),
        *("texts.blob", "tools.blob", "tools.json"),
    ]
    assert sorted(found["made_of"]) == ["triggers"]
    gate = base.calibrated.gate
    assert gate is not None
    other_cpu = attrs.evolve(
        base,
        calibrated=Calibrated(
            gate=attrs.evolve(gate, threshold=0.25), arrays={"weights": np.zeros((3, 4), np.float32)}
        ),
        embedded=attrs.evolve(base.embedded, triggers=np.ones((3, 4), np.float32)),
    )
    assert lock(other_cpu, context_of(tmp_path)).locked.text == text
    learned_otherwise = attrs.evolve(base, calibrated=attrs.evolve(base.calibrated, made_of="00"))
    held = context_of(tmp_path, locked=True)
    lock(learned_otherwise, held)
    lock(_changed_server(base, timeout_s=1.0), held)
    assert [(one.rule.code, one.message) for one in held.sink.diagnostics] == [
        ("OCT517", "bundle member `servers.json` changed"),
        ("OCT517", "what the bundle is made of: `gate` added"),
    ]


def test_words_of_an_index_are_pinned_where_no_vector_has_a_part_in_them(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """The arrays of an index of words alone are in the digest; beside vectors what they are made of is."""
    by_words = attrs.evolve(products(tmp_path), search=SearchIndex(arrays={"hashes": np.arange(3, dtype=np.uint64)}))
    found = tomllib.loads(lock(by_words, context_of(tmp_path)).locked.text)["bundle"]
    assert "search/hashes.npy" in found["members"]
    arrays = {**by_words.search.arrays, "vectors": np.zeros((2, 4), np.int8)}
    by_meaning = attrs.evolve(by_words, search=SearchIndex(arrays=arrays, made_of="00"))
    found = tomllib.loads(lock(by_meaning, context_of(tmp_path)).locked.text)["bundle"]
    assert "search/hashes.npy" not in found["members"]
    assert found["made_of"]["search"] == "00"


@pytest.mark.parametrize("edit", ["digest", "member", "none"])
def test_an_edited_digest_of_the_bundle_is_told(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker, edit: str
) -> None:
    """A lock whose bundle was edited by hand fails under `--locked`, whichever part was edited or deleted."""
    lock(products(tmp_path), context_of(tmp_path))
    path = tmp_path / "octoc.lock"
    content = parse(path.read_text())
    assert content.bundle is not None
    edited: dict[str, BundleLock | None] = {
        "digest": attrs.evolve(content.bundle, digest="00" * 32),
        "member": attrs.evolve(content.bundle, members={**content.bundle.members, "agents.json": "00" * 8}),
        "none": None,
    }
    path.write_text(text_of(attrs.evolve(content, bundle=edited[edit])))
    held = context_of(tmp_path, locked=True)
    assert lock(products(tmp_path), held).locked.is_stale
    told = {
        "digest": "the digest of the bundle changed, and no member did",
        "member": "bundle member `agents.json` changed",
        "none": "the digest of the bundle added",
    }
    assert [(one.rule.code, one.message) for one in held.sink.diagnostics] == [("OCT517", told[edit])]


def test_a_lock_of_an_older_revision_says_so(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker, with_discovered: Changer
) -> None:
    """One message states that an older octoc wrote the lock; files that it could not list are not changes."""
    base = products(tmp_path)
    path = tmp_path / "octoc.lock"
    content = parse(lock(base, context_of(tmp_path)).locked.text)
    tap = attrs.evolve(content.taps["acme"], digest="digest of revision 2")
    old = text_of(attrs.evolve(content, revision=2, bundle=None, taps={"acme": tap}))
    # Revision 2 had no digests of output schemas and annotations.
    path.write_text(re.sub(r'(= \["\w{64}", "\w+", "\w+"), "\w*", "\w*"\]', r"\1]", old))
    assert len(path.read_text()) < len(old)
    more = with_discovered(
        base, digests={**_digests(base), "taps/acme/skills/tidy/run.sh": "1", "skills/x/run.sh": "2"}
    )
    held = context_of(tmp_path, locked=True)
    assert lock(more, held).locked.is_stale
    message = f"revision is {REVISION}, was 2: skills' files, `deps/`, local programs and the bundle are pinned, too"
    assert [(one.rule.code, one.message) for one in held.sink.diagnostics] == [("OCT516", message)]
    changed = with_discovered(base, digests={**_digests(base), "octoc.toml": "22" * 32})
    assert lock(changed, context_of(tmp_path)).locked.changes == (message, "file `octoc.toml` changed")
    assert f"revision = {REVISION}\n" in path.read_text()


def test_a_lock_that_fits_is_silent_whatever_its_line_ends(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """`--locked` compares what the lock says: comments, order and CRLF do not make it stale."""
    lock(products(tmp_path), context_of(tmp_path))
    path = tmp_path / "octoc.lock"
    path.write_bytes(b"# reviewed\r\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    context = context_of(tmp_path, locked=True)
    lock(products(tmp_path), context)
    assert context.sink.diagnostics == ()


def test_a_missing_lock_is_an_error_only_when_locked(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """Without a lock `--locked` has nothing to keep to, and does not make one."""
    context = context_of(tmp_path, locked=True)
    lock(products(tmp_path), context)
    assert _codes(context) == ["OCT501"]
    assert not (tmp_path / "octoc.lock").exists()


def test_a_folder_without_octoc_toml_gets_no_lock(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """A bare folder is built without a lock; to be held to one it needs an `octoc.toml`."""
    context = context_of(tmp_path, is_bare=True)
    assert lock(products(tmp_path), context).locked.text == ""
    assert list(tmp_path.iterdir()) == []
    held = context_of(tmp_path, is_bare=True, locked=True)
    lock(products(tmp_path), held)
    assert (_codes(context), _codes(held)) == ([], ["OCT501"])


@pytest.mark.parametrize("is_locked", [False, True])
def test_a_newer_version_is_neither_trusted_nor_written_over(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker, is_locked: bool
) -> None:
    """A lock of a newer octoc is refused, and stays."""
    context = context_of(tmp_path, locked=is_locked)
    path = tmp_path / "octoc.lock"
    path.write_text("version = 2\n")
    lock(products(tmp_path), context)
    (found,) = context.sink.diagnostics
    assert found.rule.code == "OCT503"
    assert "has format 2, and this octoc reads 1" in found.message
    assert path.read_text() == "version = 2\n"


def test_a_newer_revision_is_read_and_kept(tmp_path: Path, products: ProductsMaker, context_of: ContextMaker) -> None:
    """A lock with additions of a newer octoc is compared with the build, and not rewritten when nothing changed."""
    lock(products(tmp_path), context_of(tmp_path))
    path = tmp_path / "octoc.lock"
    text = path.read_text().replace(f"revision = {REVISION}\n", f'revision = {REVISION + 1}\nadded = "later"\n')
    assert "later" in text
    path.write_text(text)
    context = context_of(tmp_path)
    assert lock(products(tmp_path), context).locked.changes == ()
    assert (path.read_text(), context.sink.diagnostics) == (text, ())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"version = '1'\n",
        b"version = 1\n",
        b"version = 1\nsettings = 3\n",
        b"a=" + b"[" * 9999,
    ],
    ids=["empty", "binary", "version", "no settings", "settings", "deep"],
)
def test_a_broken_lock_is_a_diagnostic(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker, data: bytes
) -> None:
    """Whatever the file holds: an error that stops `--locked`, and a warning of a build, which writes it anew."""
    path = tmp_path / "octoc.lock"
    path.write_bytes(data)
    held = context_of(tmp_path, locked=True)
    lock(products(tmp_path), held)
    assert [(found.rule.code, found.severity) for found in held.sink.diagnostics] == [("OCT502", Severity.ERROR)]
    assert path.read_bytes() == data
    context = context_of(tmp_path)
    written = lock(products(tmp_path), context).locked
    assert [(found.rule.code, found.severity) for found in context.sink.diagnostics] == [("OCT502", Severity.WARNING)]
    assert path.read_text() == written.text


def test_a_merge_that_was_not_resolved_names_the_way_out(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """The marks of a merge are an error at their line, and no build writes over them."""
    path = tmp_path / "octoc.lock"
    data = b"version = 1\r\n<<<<<<< HEAD\r\n=======\r\n>>>>>>> main\r\n"
    for locked in (True, False):
        path.write_bytes(data)
        context = context_of(tmp_path, locked=locked)
        lock(products(tmp_path), context)
        (found,) = context.sink.diagnostics
        assert (found.rule.code, found.severity, found.span and found.span.line) == ("OCT772", Severity.ERROR, 2)
        assert found.help is not None
        assert "`git checkout --theirs octoc.lock`" in found.help
        assert path.read_bytes() == data
    (tmp_path / "octoc.toml").write_text('[workspace]\nname = "a"\n')
    assert [found.rule.code for found in check_workspace(tmp_path).diagnostics] == ["OCT772"]


def test_a_lock_that_cannot_be_written_is_a_diagnostic(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """Where a folder stands in the lock's place, the build says so."""
    (tmp_path / "octoc.lock").mkdir()
    context = context_of(tmp_path)
    assert lock(products(tmp_path), context).locked.changes == ()
    assert _codes(context) == ["OCT502"]


@pytest.mark.parametrize("how", ["strict", "production"])
def test_a_strict_build_with_errors_leaves_the_lock(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker, with_discovered: Changer, how: str
) -> None:
    """The lock describes the bundle that stays, so it stays too."""
    context = context_of(tmp_path, strict=how == "strict")
    context.sink.report(WRONG, "wrong")
    build = products(tmp_path)
    if how == "production":
        build = with_discovered(build, settings={"mode": "production"})
    assert lock(build, context).locked.changes == ()
    assert not (tmp_path / "octoc.lock").exists()


def test_a_full_disk_is_a_diagnostic_and_leaves_the_old_lock(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the new lock cannot be written aside, the old one stays and the build says why."""
    lock(products(tmp_path), context_of(tmp_path))
    old = (tmp_path / "octoc.lock").read_bytes()

    def refuse(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    context = context_of(tmp_path)
    assert lock(products(tmp_path, description="new"), context).locked.changes == ()
    (found,) = context.sink.diagnostics
    assert (found.rule.code, found.message) == ("OCT513", "`octoc.lock` could not be written: No space left on device")
    assert (tmp_path / "octoc.lock").read_bytes() == old
