"""The files that ship with octoc are found, from a wheel and from the source tree."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from octoc import data
from octoc.compiler.cache.store import Cache
from octoc.compiler.context import Context
from octoc.compiler.discover.stage import find_files
from octoc.compiler.lock.inputs import InputFiles, files_of
from octoc.compiler.model.documents import Discovered
from octoc.compiler.model.settings import TapRef, WorkspaceSettings
from octoc.compiler.read.stage import input_digests
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.plugin.manager import plugins_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as a release makes it: by way of the sdist, without the network."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("octoc-*.whl")
    return built


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _found_by(*options: str, cwd: Path, path: Path | None) -> tuple[Path, Path, Path]:
    """Return the folders of schemas and core tap, and `octoc.data` itself, as a fresh process finds them."""
    program = (
        "import json, octoc.data as data\n"
        "print(json.dumps([str(data.schemas_dir()), str(data.core_tap_dir()), data.__file__]))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    command = [sys.executable, *options, "-c", program]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    schemas, core, module = map(Path, json.loads(done.stdout))
    return schemas, core, module


@pytest.mark.parametrize("folder", ["schemas", "taps/core"])
def test_the_wheel_holds_what_the_tree_holds(wheel: Path, folder: str) -> None:
    """Each file of the folder in the source tree is in the wheel's `octoc/_data`, and nothing else is."""
    prefix = f"octoc/_data/{folder}/"
    with zipfile.ZipFile(wheel) as archive:
        held = sorted(name.removeprefix(prefix) for name in archive.namelist() if name.startswith(prefix))
    assert held
    assert held == _files(ROOT / folder)


def test_an_unpacked_wheel_finds_its_data(wheel: Path, tmp_path: Path) -> None:
    """A process that has only the wheel's content on its path finds both folders inside it."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    # -S leaves out the environment's packages, and with them an editable install of the tree.
    schemas, core, module = _found_by("-S", cwd=tmp_path, path=tmp_path)
    inside = tmp_path.resolve() / "octoc"
    assert module == inside / "data.py"
    assert schemas == inside / "_data" / "schemas"
    assert core == inside / "_data" / "taps" / "core"


def test_an_editable_install_finds_the_source_tree(tmp_path: Path) -> None:
    """A process started elsewhere, in the environment that has the tree installed, finds both folders in the tree."""
    schemas, core, module = _found_by(cwd=tmp_path, path=None)
    assert module == ROOT / "octoc" / "data.py"
    assert schemas == ROOT / "schemas"
    assert core == ROOT / "taps" / "core"


def test_the_core_tap_means_the_same_in_a_wheel(wheel: Path, tmp_path: Path) -> None:
    """A wheel holds a copy of a provider where the tree has the link `default.toml`, and both choose that provider."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    inputs = [_inputs_of(core) for core in (ROOT / "taps" / "core", tmp_path / "octoc" / "_data" / "taps" / "core")]
    assert len(inputs[0][0].default_links) > 10
    links = [{(link.capability, link.provider) for link in discovered.default_links} for discovered, _ in inputs]
    assert links[0] == links[1]
    assert inputs[0][1] == inputs[1][1]


def _inputs_of(core: Path) -> tuple[Discovered, Mapping[str, InputFiles]]:
    place = Place(file="octoc.toml")
    settings = WorkspaceSettings(name="core", place=place, taps=(TapRef(name="core", path=str(core), place=place),))
    sink = DiagnosticSink()
    discovered = find_files(settings, Context(root=core, sink=sink, cache=Cache(None), plugins=plugins_of()))
    assert not sink.diagnostics
    return discovered, files_of(discovered, input_digests(discovered))[0]


def test_lost_data_is_an_error_with_a_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When neither place has the folder, the error names both places and the command that repairs it."""
    monkeypatch.setattr(data, "_PACKAGE", tmp_path / "octoc")
    with pytest.raises(data.MissingDataError) as caught:
        data.schemas_dir()
    message = str(caught.value)
    assert str(tmp_path / "octoc" / "_data" / "schemas") in message
    assert str(tmp_path / "schemas") in message
    assert "pip install" in message
