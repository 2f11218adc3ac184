"""Scripts of dependencies as real taps write them: in a read-only copy of the tap's `deps/`, with its library."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from octoc.bundle.digest import sha256_hex
from octoc.bundle.model import Bundle, DepFile, DepFolder, Slice
from octoc.bundle.reader import OpenBundle
from octoc.bundle.writer import write_bundle
from octoc.compiler.workspace.build import build
from octoc.plugin.manager import plugins_of
from octoc.runtime import Runtime
from octoc.runtime.activation.activate import ActivationChange, activate
from octoc.runtime.activation.dependency_folder import write_folder
from octoc.runtime.activation.scripts import AlteredFolderError
from octoc.testing import WorkspaceBuilder

TRIGGERS = ["one thing", "another thing", "a third thing"]
PROVIDER = '# Title: It\n# Description: Does it\n\n[deps]\nrequire = ["acme/tool"]\n'
TOOL = """\
#!/usr/bin/env bash
# dep: acme/tool
# type: dep
# description: A tool
# check: surely-not-there
set -euo pipefail
DEPS_LIB="$(cd "$(dirname "${{BASH_SOURCE[0]}}")/../lib" && pwd)"
. "$DEPS_LIB/platform.sh"
say "from the library on $(platform)" > {log}
"$(dirname "${{BASH_SOURCE[0]}}")/../other/helper.sh" one >> {log}
bash "$DEPS_LIB/../linked/helper.sh" two >> {log}
bash "$DEPS_LIB/alias.sh" three >> {log}
{more}
"""
LIBRARY = 'platform() { uname -s; }\nsay() { printf "%s\\n" "$1"; }\n'
HELPER = '#!/usr/bin/env bash\n. "$(cd "$(dirname "${BASH_SOURCE[0]}")/../lib" && pwd)/platform.sh"\nsay "helped $1"\n'


def _workspace(root: Path, log: Path, more: str = "") -> Path:
    """Write a workspace whose one capability needs a script, and return its folder."""
    builder = WorkspaceBuilder(root, plugins={"use": []}, runtime={"deps": "run"})
    builder.capability("tools", TRIGGERS, tap="acme").file("taps/acme/capabilities/tools/default.toml", PROVIDER)
    for path, text in (
        ("acme/tool.sh", TOOL.format(log=log, more=more)),
        ("other/helper.sh", HELPER),
        ("lib/platform.sh", LIBRARY),
    ):
        builder.file(f"taps/acme/deps/{path}", text)
    deps = builder.write() / "taps/acme/deps"
    (deps / "other/helper.sh").chmod(0o755)
    (deps / "linked").symlink_to("other")
    (deps / "lib/alias.sh").symlink_to("../other/helper.sh")
    return root


def _activated(bundle: Path) -> ActivationChange:
    async def scenario() -> ActivationChange:
        async with Runtime.open(bundle, plugins=plugins_of()) as runtime:
            return await activate(runtime.session().state, "tools")

    return asyncio.run(scenario())


def _built(root: Path) -> Path:
    bundle = build(root, plugins=plugins_of(), allow_degraded=True).bundle
    assert bundle is not None
    return bundle


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_the_idiom_of_real_taps_works(tmp_path: Path, temporary: Path) -> None:
    """A script sources its tap's library, starts another script by itself and one by a link; nothing stays behind."""
    log = tmp_path / "log"
    bundle = _built(_workspace(tmp_path / "workspace", log))
    assert _activated(bundle).text == "Capability 'tools' enabled. Installed deps: acme/tool"
    first, *rest = log.read_text().splitlines()
    assert first == f"from the library on {os.uname().sysname}"
    assert rest == ["helped one", "helped two", "helped three"]
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("temporary")
def test_the_bundle_needs_no_tap_beside_it(tmp_path: Path) -> None:
    """The bundle alone is enough: what stands in the tap by then does not count."""
    log = tmp_path / "log"
    bundle = _built(_workspace(tmp_path / "workspace", log))
    moved = bundle.rename(tmp_path / "moved.octoc")
    library = tmp_path / "workspace/taps/acme/deps/lib/platform.sh"
    library.write_text("exit 9\n")
    assert _activated(moved).ok


@pytest.mark.usefixtures("temporary")
def test_the_copy_is_read_only_and_the_user_s_own(tmp_path: Path) -> None:
    """The copy is read-only, only its user can enter it, and the script runs in another folder."""
    log, modes = tmp_path / "log", tmp_path / "modes"
    more = f'cd "$DEPS_LIB/.." && find . ! -type l -printf "%m %p\\n" > {modes}; stat -c "%a" .. >> {modes}'
    bundle = _built(_workspace(tmp_path / "workspace", log, more))
    assert _activated(bundle).ok
    *inside, parent = modes.read_text().splitlines()
    assert {tuple(line.split(" ", 1)) for line in inside} == {
        *(("555", path) for path in (".", "./acme", "./lib", "./other", "./other/helper.sh")),
        *(("444", path) for path in ("./acme/tool.sh", "./lib/platform.sh")),
    }
    assert parent == "700"


def test_a_script_that_alters_the_copy_alters_one_run(tmp_path: Path, temporary: Path) -> None:
    """A script that makes its copy writable changes only that run: the next one has the bundle's files."""
    log = tmp_path / "log"
    more = 'chmod -R u+w "$DEPS_LIB"; echo "exit 9" > "$DEPS_LIB/platform.sh"; touch "$DEPS_LIB/new"'
    bundle = _built(_workspace(tmp_path / "workspace", log, more))
    assert [_activated(bundle).ok for _ in range(2)] == [True, True]
    assert list(temporary.iterdir()) == []


def _rewritten(bundle: Path, change: Callable[[Bundle, bytes], tuple[Bundle, bytes]]) -> Path:
    """Write a bundle with another content, whose own digests are right, and return its path."""
    with OpenBundle.open(bundle) as opened:
        members = {name: bytes(opened._member(f"{name}.blob")) for name in ("tools", "texts")}
        changed, members["texts"] = change(opened.bundle, members["texts"])
        arrays = {f"{part}/{name}": array for part in ("gate", "search") for name, array in opened.arrays(part).items()}
        data = write_bundle(changed, blobs=members, arrays=arrays)
    bundle.write_bytes(data)
    return bundle


@pytest.mark.parametrize("path", ["acme/tool.sh", "lib/platform.sh", "other/helper.sh"])
def test_an_altered_script_is_refused(tmp_path: Path, temporary: Path, path: str) -> None:
    """A script, a helper or a library with other bytes than the build's runs nothing, although the file is sound."""
    log = tmp_path / "log"
    bundle = _built(_workspace(tmp_path / "workspace", log))

    def altered(found: Bundle, texts: bytes) -> tuple[Bundle, bytes]:
        file = next(file for file in found.dep_folders[0].files if file.path == path)
        start = file.data.offset + file.data.length - 2
        return found, texts[:start] + b"#" + texts[start + 1 :]

    text = _activated(_rewritten(bundle, altered)).text
    what = "script" if path == "acme/tool.sh" else "folder"
    assert text.endswith(f"could not be activated: dependency 'acme/tool': its {what} is not what was built")
    assert not log.exists()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("case", ["mode", "gone", "other script", "no folder"])
def test_a_folder_of_another_shape_is_refused(tmp_path: Path, temporary: Path, case: str) -> None:
    """A mode, a missing file, another script in the place of the one, and a folder that is not there: nothing runs."""
    log = tmp_path / "log"
    bundle = _built(_workspace(tmp_path / "workspace", log))

    def altered(found: Bundle, texts: bytes) -> tuple[Bundle, bytes]:
        (folder,) = found.dep_folders
        if case == "mode":
            programs = tuple(attrs.evolve(file, is_program=True) for file in folder.files)
            return attrs.evolve(found, dep_folders=(attrs.evolve(folder, files=programs),)), texts
        if case == "no folder":
            return attrs.evolve(found, dep_folders=()), texts
        files = tuple(file for file in folder.files if file.path != "lib/platform.sh")
        if case == "other script":
            helper = next(file for file in folder.files if file.path == "other/helper.sh")
            files = tuple(attrs.evolve(helper, path=f.path) if f.path == "acme/tool.sh" else f for f in folder.files)
        digest = folder.digest if case == "gone" else DepFolder.digest_of(files)
        return attrs.evolve(found, dep_folders=(attrs.evolve(folder, files=files, digest=digest),)), texts

    change = _activated(_rewritten(bundle, altered))
    assert change.text.endswith("dependency 'acme/tool': its folder is not what was built")
    assert not log.exists()
    assert list(temporary.iterdir()) == []


DATA = b"true\n"
SOUND = DepFile(path="org/tool.sh", data=Slice(0, len(DATA)), digest=sha256_hex(DATA))


@pytest.mark.parametrize(
    "files",
    [
        [attrs.evolve(SOUND, path="../tool.sh")],
        [attrs.evolve(SOUND, path="/srv/tool.sh")],
        [attrs.evolve(SOUND, path="org/../../tool.sh")],
        [attrs.evolve(SOUND, path="org//tool.sh")],
        [attrs.evolve(SOUND, path="org/\0")],
        [DepFile(path="out", link="..")],
        [DepFile(path="out", link="/etc/passwd")],
        [DepFile(path="out", link="org/../../..")],
        [DepFile(path="a/b", link="../z"), DepFile(path="out", link="a/b/../.."), attrs.evolve(SOUND, path="z/f")],
        [DepFile(path="out", link="../../beside"), attrs.evolve(SOUND, path="out/escaped.sh")],
        [DepFile(path="out", link="../../beside"), DepFile(path="out/escaped", link="tool.sh")],
        [attrs.evolve(SOUND, digest="00")],
    ],
)
def test_nothing_leads_out_of_the_copy(tmp_path: Path, files: list[DepFile]) -> None:
    """Paths and links of a forged bundle reach nothing outside the copy."""
    root = tmp_path / "copy" / "deps"
    root.parent.mkdir()
    beside = tmp_path / "beside"
    beside.mkdir()
    folder = DepFolder(name="acme", digest=DepFolder.digest_of(files), files=tuple(files))
    with pytest.raises(AlteredFolderError):
        write_folder(folder, lambda _: DATA, root)
    assert list(beside.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside", "copy"]
