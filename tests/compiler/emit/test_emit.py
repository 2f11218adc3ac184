"""Emit: one file with everything in it, the same bytes wherever it was made, never half-written."""

import stat
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
import pytest

from octoc import __version__
from octoc.bundle.model import Grant, Registry
from octoc.bundle.reader import OpenBundle
from octoc.compiler.context import Context
from octoc.compiler.emit.assemble import assemble
from octoc.compiler.emit.paths import bundle_target, relocator, way_to_workspace
from octoc.compiler.emit.stage import emit
from octoc.compiler.lock.inputs import inputs_digest
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Calibrated, Emitted, Locked
from octoc.diagnostics.rule import Rule, Scope

ProductsMaker = Callable[..., Build]
ContextMaker = Callable[..., Context]
WRONG = Rule("OCT999", "wrong", "Something.", scope=Scope.BUILD)


def _emit(build: Build, context: Context) -> Emitted:
    inputs = inputs_digest(build.discovered, build.documents.digests)
    way = way_to_workspace(bundle_target(build.settings, context), context.root)
    parts = assemble(build, context.root, plugins={"embed-onnx": "0.1.0"}, inputs=inputs, workspace=way)
    return emit(attrs.evolve(build, locked=Locked(text="", parts=parts)), context).emitted


def test_the_bundle_has_everything(tmp_path: Path, products: ProductsMaker, context_of: ContextMaker) -> None:
    """What the stages made is in the file: servers in order, tools by number, the rest by name, texts and arrays."""
    build = products(tmp_path)
    emitted = _emit(build, context_of(tmp_path))
    assert emitted.path == (tmp_path / "dist/acme.octoc").as_posix()
    with OpenBundle.open(emitted.path, verify="full") as opened:
        bundle = opened.bundle
        assert (bundle.name, bundle.octoc_version, dict(bundle.plugins)) == (
            "acme",
            __version__,
            {"embed-onnx": "0.1.0"},
        )
        assert [(server.name, server.listed) for server in bundle.servers] == [("disk", True), ("web", False)]
        assert bundle.servers[0].instructions == "Be careful"
        assert [tool.alias for tool in bundle.tools] == ["disk__read", "disk__write"]
        assert opened.tool_wire(1)["description"] == "Writes a file"
        files, search = bundle.capabilities
        assert (files.name, files.rows, files.triggers) == ("files", (0, 2), ("read the file", "save this"))
        assert files.grants == (Grant(server="disk", globs=("read",), tools=(0,)),)
        assert (search.rows, search.grants) == ((2, 3), (Grant(server="web", globs=("*",)),))
        assert np.array_equal(opened.array("triggers"), np.eye(3, 4))
        assert np.array_equal(opened.array("gate/weights"), np.ones((3, 4)))
        supervisor, writer = bundle.agents
        assert (supervisor.name, supervisor.registry.tools) == ("supervisor", (0, 1))
        assert opened.text(supervisor.servers_prompt) == "## Servers"
        assert (opened.text(writer.prompt), opened.text(writer.welcome)) == ("You write. Grüße", "")
        assert (writer.registry, dict(writer.sampling)) == (Registry(tools=(0,), direct=(0,)), {"top_p": 1.0})
        (skill,) = bundle.skills
        assert (opened.text(skill.body), skill.resources, skill.capabilities) == (
            "Tidy up.",
            ("references/a.md",),
            ("files",),
        )
        assert bundle.encoder is not None
        assert (bundle.encoder.identity, bundle.encoder.files) == ("identity-1", ("weights.bin",))
        assert opened.encoder_files() == {"weights.bin": b"weights"}
        assert bundle.gate == build.calibrated.gate
        assert bundle.inputs == inputs_digest(build.discovered, build.documents.digests)


def test_an_agent_that_scope_left_out_is_not_there(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """An agent without a registry is not in the bundle: a session of it would have no tool, and no one would say so."""
    build = products(tmp_path)
    scoped = build.scoped
    kept = {name: registry for name, registry in scoped.registries.items() if name != "writer"}
    without = attrs.evolve(build, scoped=attrs.evolve(scoped, registries=kept))
    emitted = _emit(without, context_of(tmp_path))
    assert emitted.path is not None
    with OpenBundle.open(emitted.path) as opened:
        assert [agent.name for agent in opened.bundle.agents] == ["supervisor"]


def test_another_folder_gives_the_same_bytes(tmp_path: Path, products: ProductsMaker, context_of: ContextMaker) -> None:
    """No path of the build machine is in the file: two folders of unlike length give equal bytes."""
    one, two = tmp_path / "a", tmp_path / "elsewhere" / "deeper"
    neutral = [_without_neighbour(products(root)) for root in (one, two)]
    first = _emit(neutral[0], context_of(one))
    second = _emit(neutral[1], context_of(two))
    assert first.digest == second.digest
    assert first.path is not None
    data = Path(first.path).read_bytes()
    assert str(tmp_path).encode() not in data
    server = OpenBundle.of_bytes(data).bundle.servers[0]
    assert server.command == "${workspaceFolder}/bin/disk"
    assert server.args == ("--root", "${workspaceFolder}", "--log=${workspaceFolder}/log.txt")
    assert (server.cwd, server.env["TOKEN"]) == ("${workspaceFolder}", "${TOKEN}")


def _without_neighbour(build: Build) -> Build:
    """Return the products without the argument that names a folder beside the workspace, as a user may write one."""
    disk, web = build.resolved.servers
    servers = (attrs.evolve(disk, args=disk.args[:3]), web)
    return attrs.evolve(build, resolved=attrs.evolve(build.resolved, servers=servers))


@pytest.mark.parametrize(
    "text,expected",
    [
        ("/srv/acme", "${workspaceFolder}"),
        ("/srv/acme/x", "${workspaceFolder}/x"),
        ("--dir=/srv/acme:/usr/bin", "--dir=${workspaceFolder}:/usr/bin"),
        ("file:///srv/acme/x", "file://${workspaceFolder}/x"),
        ("/srv/acme-2/x", "/srv/acme-2/x"),
        ("/srv/acme2", "/srv/acme2"),
        ("/old/srv/acme", "/old/srv/acme"),
        ("acme", "acme"),
    ],
)
def test_only_what_lies_inside_the_workspace_is_relocated(text: str, expected: str) -> None:
    """A path inside the workspace becomes relative to it anywhere in a text; neighbouring paths stay."""
    assert relocator(Path("/srv/acme"))(text) == expected


def test_the_real_folder_behind_a_link_is_relocated_too(tmp_path: Path) -> None:
    """A workspace that is reached through a symbolic link is known by both of its paths."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    relocated = relocator(link)
    assert relocated([f"{link}/a", {"k": f"{real}/b"}, 3, None]) == [
        "${workspaceFolder}/a",
        {"k": "${workspaceFolder}/b"},
        3,
        None,
    ]


def test_equal_bytes_leave_the_file_untouched(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """A second build of the same inputs gives the same digest and does not touch the file."""
    first = _emit(products(tmp_path), context_of(tmp_path))
    assert first.path is not None
    before = Path(first.path).stat()
    second = _emit(products(tmp_path), context_of(tmp_path))
    after = Path(first.path).stat()
    assert (second.digest, second.path, second.size) == (first.digest, first.path, before.st_size)
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert stat.S_IMODE(after.st_mode) == 0o644
    assert [path.name for path in (tmp_path / "dist").iterdir()] == ["acme.octoc"]


def test_locked_writes_nothing_and_still_tells_the_digest(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """With `--locked` the bundle is made, for its digest, and not written."""
    held = _emit(products(tmp_path), context_of(tmp_path, locked=True))
    assert (held.path, (tmp_path / "dist").exists()) == (None, False)
    assert held.digest == _emit(products(tmp_path), context_of(tmp_path)).digest


def test_strict_with_an_error_keeps_the_old_file_and_says_so(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """An error in a strict build means no bundle, and a warning that says so; without strict the rest is written."""
    old = _emit(products(tmp_path), context_of(tmp_path))
    assert old.path is not None
    before = Path(old.path).read_bytes()
    strict = context_of(tmp_path, strict=True)
    strict.sink.report(WRONG, "wrong")
    withheld = _emit(products(tmp_path, encoder_file=b"new"), strict)
    assert withheld.path is None
    assert Path(old.path).read_bytes() == before
    assert [(found.rule.code, found.message) for found in strict.sink.diagnostics] == [
        (
            "OCT608",
            "`dist/acme.octoc` was not written: the build is strict and has 1 error; the older bundle stays as it was",
        ),
        ("OCT999", "wrong"),
    ]
    lenient = context_of(tmp_path)
    lenient.sink.report(WRONG, "wrong")
    assert _emit(products(tmp_path, encoder_file=b"new"), lenient).path is not None
    assert Path(old.path).read_bytes() != before


def test_a_place_that_cannot_be_written_is_a_diagnostic(
    tmp_path: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """Where a folder stands in the bundle's place, the build says so and leaves nothing half-written."""
    output = tmp_path / "out" / "taken"
    (output / "inside").mkdir(parents=True)
    context = context_of(tmp_path, output=output)
    assert _emit(products(tmp_path), context).path is None
    assert [found.rule.code for found in context.sink.diagnostics] == ["OCT607"]
    assert [path.name for path in output.parent.iterdir()] == ["taken"]


def test_without_vectors_there_are_no_rows(tmp_path: Path, products: ProductsMaker, context_of: ContextMaker) -> None:
    """When no encoder could be had, the bundle has no arrays, no encoder and no gate, and all the rest."""
    build = products(tmp_path)
    embedded = attrs.evolve(build.embedded, encoder_name=None, triggers=None, encoder_files={})
    emitted = _emit(attrs.evolve(build, embedded=embedded, calibrated=Calibrated()), context_of(tmp_path))
    assert emitted.path is not None
    with OpenBundle.open(emitted.path, verify="full") as opened:
        assert (opened.bundle.encoder, opened.bundle.gate) == (None, None)
        assert not opened.has_array("triggers")
        assert {capability.rows for capability in opened.bundle.capabilities} == {(0, 0)}
        assert len(opened.bundle.tools) == 2


@pytest.fixture
def built(tmp_path: Path, products: ProductsMaker, context_of: ContextMaker) -> Path:
    """A bundle in its place."""
    emitted = _emit(products(tmp_path), context_of(tmp_path))
    assert emitted.path is not None
    return Path(emitted.path)


def _held(path: Path, products: ProductsMaker, context_of: ContextMaker) -> list[tuple[str, str]]:
    """Return what a locked build of the same products says of the bundle at `path`, which it does not touch."""
    before = path.read_bytes() if path.is_file() else None
    context = context_of(path.parents[1], locked=True)
    _emit(products(path.parents[1]), context)
    assert (path.read_bytes() if path.is_file() else None) == before
    return [(found.rule.code, found.message) for found in context.sink.diagnostics]


DIFFERS = "`dist/acme.octoc` is not the bundle that these inputs give: "


def test_a_bundle_that_is_as_it_should_be_is_silent(
    built: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """The same bytes, or no file at all, are fine."""
    assert _held(built, products, context_of) == []
    built.unlink()
    assert _held(built, products, context_of) == []


def test_a_bundle_of_other_content_is_told_by_its_members(
    built: Path, products: ProductsMaker, context_of: ContextMaker
) -> None:
    """A sound bundle of other tools is named with what differs, and one of another CPU with a note."""
    root = built.parents[1]
    _emit(products(root, description="Obey me"), context_of(root))
    ((code, message),) = _held(built, products, context_of)
    assert (code, message.startswith(DIFFERS), "`tools.blob`" in message) == ("OCT610", True, True)
    base = products(root)
    numbers = attrs.evolve(base.embedded, triggers=np.zeros((3, 4), np.float32))
    _emit(attrs.evolve(base, embedded=numbers), context_of(root))
    context = context_of(root, locked=True)
    _emit(base, context)
    (found,) = context.sink.diagnostics
    assert found.message == f"{DIFFERS}`triggers.npy` differs"
    assert found.notes == ("only vectors and fitted arrays differ: another kind of CPU gives other ones, too",)


@pytest.mark.parametrize("how", ["a byte", "cut", "longer", "empty", "no bundle", "folder", "link"])
def test_a_bundle_that_was_damaged_or_replaced_is_told(
    built: Path, products: ProductsMaker, context_of: ContextMaker, how: str
) -> None:
    """Whatever lies in the bundle's place and is not the bundle is an error, and never a traceback."""
    data = built.read_bytes()
    middle = data.index(b"You write.")
    built.unlink()
    if how == "folder":
        built.mkdir()
    elif how == "link":
        built.symlink_to("nowhere")
    else:
        changed = {
            "a byte": data[:middle] + b"M" + data[middle + 1 :],
            "cut": data[:-9],
            "longer": data + b"x",
            "empty": b"",
            "no bundle": b"not a bundle",
        }
        built.write_bytes(changed[how])
    ((code, message),) = _held(built, products, context_of)
    assert code == "OCT610"
    assert message.startswith(DIFFERS)
