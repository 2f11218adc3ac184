"""Damaged files, end to end: a diagnostic that names the file, exit status 1, and all that is sound in the bundle."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Octoc, left_over

CONFIG = "taps/acme/capabilities/time/config.toml"
PROVIDER = "taps/acme/capabilities/time/installed.toml"
MANIFEST = "taps/acme/agents/dev/builder.toml"
AGENT = "agents/helper/AGENT.md"
SKILL = "taps/acme/skills/tidy/SKILL.md"
SNAPSHOT = "snapshots/time.json"
TOML = (CONFIG, PROVIDER, MANIFEST)
JSON = (".mcp.json", SNAPSHOT)
MARKDOWN = (AGENT, SKILL)
FILES = (*TOML, *JSON, *MARKDOWN)
SURVIVORS = {
    "capabilities": {"mail"},
    "agents": {"dev:writer", "tester"},
    "skills": {"brew"},
    "servers": {"files", "mail"},
}

Damage = Callable[[bytes], bytes]

EVERYWHERE: dict[str, Damage] = {
    "empty": lambda _: b"",
    "white space": lambda _: b" \n\t\n",
    "binary": lambda _: bytes(range(256)) * 8,
    "NUL at the end": lambda data: data + b"\0",
    "not UTF-8": lambda data: data[:20] + b"\xff\xe9" + data[20:],
    "UTF-16 with BOM": lambda data: data.decode().encode("utf-16"),
    "UTF-16 LE without BOM": lambda data: data.decode().encode("utf-16-le"),
    "UTF-16 BE without BOM": lambda data: data.decode().encode("utf-16-be"),
    "over 2 MiB": lambda data: data + b"\n" * (2 * 1024 * 1024),
}
OF_TOML: dict[str, Damage] = {
    "cut in a word": lambda data: data[: data.index(b" = ") + 3],
    "cut in a string": lambda data: data[: data.rindex(b'"')],
    "key twice": lambda data: b"a = 1\na = 2\n" + data,
    "100,000 deep list": lambda _: b"x = " + b"[" * 100_000 + b"]" * 100_000,
    "100,000 deep table": lambda _: b"x = " + b"{a=" * 100_000 + b"1" + b"}" * 100_000,
    "100,000 parts of a key": lambda _: b"a" + b".a" * 100_000 + b" = 1",
    "100,000 parts of a header": lambda _: b"[a" + b".a" * 100_000 + b"]",
    "huge number": lambda data: b"x = " + b"9" * 10_000 + b"\n" + data,
    "not a number": lambda data: b"x = nan\n" + data,
}
OF_JSON: dict[str, Damage] = {
    "cut early": lambda data: data[:10],
    "cut in the middle": lambda data: data[: len(data) // 2],
    "cut at the end": lambda data: data.rstrip()[:-1],
    "key twice": lambda data: b'{"tools": 1, "mcpServers": 1,' + data.lstrip()[1:],
    "a list": lambda data: b"[" + data + b"]",
    "null": lambda _: b"null",
    "100,000 deep list": lambda _: b'{"tools": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100,000 deep object": lambda _: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "huge number": lambda data: b'{"x": ' + b"9" * 10_000 + b"," + data.lstrip()[1:],
    "1e999": lambda data: b'{"x": 1e999,' + data.lstrip()[1:],
    "not a number": lambda data: b'{"x": NaN,' + data.lstrip()[1:],
    "half a character": lambda data: b'{"x": "\\ud800",' + data.lstrip()[1:],
}
OF_MARKDOWN: dict[str, Damage] = {
    "cut in the front matter": lambda data: data[:20],
    "key twice": lambda data: data.replace(b"---\n", b"---\nname: other\n", 1),
    "a list": lambda _: b"---\n- a\n---\nText.\n",
    "100,000 deep list": lambda data: data.replace(b"---\n", b"---\nx: " + b"[" * 100_000 + b"]" * 100_000 + b"\n", 1),
    "alias": lambda data: data.replace(b"---\n", b"---\nx: &a [*a]\n", 1),
    "tag": lambda data: data.replace(b"---\n", b"---\nx: !!python/name:os.system ''\n", 1),
    "name is a list": lambda data: data.replace(b"name: ", b"name: [a, b] #", 1),
}
CASES = [
    *((file, fault, damage) for file in FILES for fault, damage in EVERYWHERE.items()),
    *((file, fault, damage) for file in TOML for fault, damage in OF_TOML.items()),
    *((file, fault, damage) for file in JSON for fault, damage in OF_JSON.items()),
    *((file, fault, damage) for file in MARKDOWN for fault, damage in OF_MARKDOWN.items()),
]
# A snapshot may have 64 MiB; what is authored may not.
CASES = [case for case in CASES if case[:2] != (SNAPSHOT, "over 2 MiB")]


@pytest.mark.parametrize("file, fault, damage", CASES, ids=[f"{file}-{fault}" for file, fault, _ in CASES])
def test_a_damaged_file_is_told_and_hides_no_other(
    octoc: Octoc, folder: Path, file: str, fault: str, damage: Damage
) -> None:
    """An error names the file, the exit status is 1, and the bundle has what every other file says."""
    (folder / file).write_bytes(damage((folder / file).read_bytes()))
    done = octoc("build", "--json", "--workspace", str(folder))
    assert done.status == 1
    errors = [found for found in done.json()["diagnostics"] if found["severity"] == "error"]
    assert file in {found["file"] for found in errors}, errors
    assert left_over(folder) == []
    shown = octoc("show", "--json", "--bundle", str(folder / "dist" / "acme.octoc")).json()
    for kind, names in SURVIVORS.items():
        assert names <= {entry["name"] for entry in shown[kind]}, kind


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("mode", ["--strict", "production"])
def test_a_strict_build_with_an_error_leaves_the_old_bundle(octoc: Octoc, folder: Path, file: str, mode: str) -> None:
    """With `--strict`, and in production, nothing is written: bundle and lock stay as they were, byte for byte."""
    settings = folder / "octoc.toml"
    if mode == "production":
        settings.write_text(settings.read_text().replace("[workspace]", '[workspace]\nmode = "production"'))
    (folder / file).write_bytes(b"\xff\xff")
    before = [(folder / path).read_bytes() for path in ("dist/acme.octoc", "octoc.lock")]
    done = octoc("build", *(["--strict"] if mode == "--strict" else []), "--workspace", str(folder))
    assert done.status == 1
    assert "no bundle was written" in done.err
    assert before == [(folder / path).read_bytes() for path in ("dist/acme.octoc", "octoc.lock")]
    assert left_over(folder) == []


@pytest.mark.parametrize("fault", [*EVERYWHERE, *OF_TOML, "dangling link", "folder"])
def test_settings_that_cannot_be_read_leave_everything_as_it_was(octoc: Octoc, folder: Path, fault: str) -> None:
    """Without sound settings octoc does not guess: a diagnostic at octoc.toml, and the old outputs stay."""
    path = folder / "octoc.toml"
    if fault in ("dangling link", "folder"):
        path.unlink()
        path.mkdir() if fault == "folder" else path.symlink_to("nowhere.toml")
    else:
        path.write_bytes({**EVERYWHERE, **OF_TOML}[fault](path.read_bytes()))
    for command in ("check", "build"):
        done = octoc(command, "--json", "--workspace", str(folder))
        found = done.json() if command == "check" else done.json()["diagnostics"]
        assert done.status == 1
        assert "octoc.toml" in {entry["file"] for entry in found if entry["severity"] == "error"}
    assert octoc("show", "--bundle", str(folder / "dist" / "acme.octoc")).status == 0
    assert left_over(folder) == []


LOCKS: dict[str, Damage] = {name: damage for name, damage in {**EVERYWHERE, **OF_TOML}.items() if "MiB" not in name}


@pytest.mark.parametrize("fault", LOCKS)
def test_a_damaged_lock_is_written_anew(octoc: Octoc, folder: Path, fault: str) -> None:
    """A lock that cannot be read is a warning and a new lock; `--locked` takes it for an error, and writes nothing."""
    path = folder / "octoc.lock"
    sound_text = path.read_bytes()
    path.write_bytes(LOCKS[fault](sound_text))
    damaged = path.read_bytes()
    locked = octoc("build", "--locked", "--workspace", str(folder))
    assert locked.status == (0 if fault == "not a number" else 1), locked.text  # which adds a key and no more
    assert path.read_bytes() == damaged
    done = octoc("build", "--workspace", str(folder))
    assert done.status == 0, done.text
    assert path.read_bytes() == sound_text


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("octoc.lock")])
def test_a_lock_that_is_not_a_file_is_an_error(octoc: Octoc, folder: Path, make: Callable[[Path], None]) -> None:
    """A folder, a pipe or a link loop in the place of the lock is reported, and the build does not wait for it."""
    (folder / "octoc.lock").unlink()
    make(folder / "octoc.lock")
    done = octoc("build", "--output-format", "concise", "--workspace", str(folder))
    assert done.status == 1
    assert "octoc.lock: error[OCT50" in done.out


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("how", ["loop", "dangling", "outside", "folder", "pipe"])
def test_a_link_or_a_folder_in_the_place_of_a_file_is_told(
    octoc: Octoc, folder: Path, tmp_path: Path, file: str, how: str
) -> None:
    """No link is followed out of the root or in circles, and no pipe is waited for."""
    path = folder / file
    if how == "outside":
        (tmp_path / "outside").write_bytes(path.read_bytes())
    path.unlink()
    match how:
        case "loop":
            path.symlink_to(path.name)
        case "dangling":
            path.symlink_to("nowhere")
        case "outside":
            path.symlink_to(tmp_path / "outside")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
    done = octoc("build", "--json", "--workspace", str(folder))
    found = done.json()["diagnostics"]
    # A folder of a file's name is another thing, and no file: what needs the file says that it is not there.
    if how != "folder":
        assert done.status == 1
        assert any(entry["file"] in (file, "octoc.toml") and entry["severity"] == "error" for entry in found), found
    else:
        assert any(entry["severity"] in ("error", "warning", "info") for entry in found)
    assert left_over(folder) == []


def test_a_folder_that_leads_out_of_its_tap_is_left_out(octoc: Octoc, folder: Path, tmp_path: Path) -> None:
    """A capability folder that links out of its tap is reported and left out."""
    (folder / "taps/acme/capabilities/time").rename(tmp_path / "elsewhere")
    (folder / "taps/acme/capabilities/time").symlink_to(tmp_path / "elsewhere")
    done = octoc("build", "--json", "--workspace", str(folder))
    assert done.status == 1
    assert "OCT123" in {found["code"] for found in done.json()["diagnostics"]}
    shown = octoc("show", "--json", "--bundle", str(folder / "dist" / "acme.octoc")).json()
    assert {entry["name"] for entry in shown["capabilities"]} == {"mail"}


def test_the_limit_of_a_snapshot_can_be_set(octoc: Octoc, folder: Path) -> None:
    """`[limits]` lowers the limit of snapshots; the message tells both numbers and the key."""
    settings = folder / "octoc.toml"
    settings.write_text(settings.read_text() + "\n[limits]\nmax_snapshot_bytes = 100\n")
    done = octoc("check", "--json", "--workspace", str(folder))
    assert done.status == 1
    large = [found for found in done.json() if found["code"] == "OCT102"]
    assert len(large) == 4
    assert "the limit is 100" in large[0]["message"]
    assert "max_snapshot_bytes" in large[0]["help"]


@pytest.mark.parametrize("as_saved", [lambda data: b"\xef\xbb\xbf" + data, lambda data: data.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("file", [*FILES, "octoc.toml"])
def test_a_mark_and_crlf_are_read_as_if_absent(octoc: Octoc, folder: Path, file: str, as_saved: Damage) -> None:
    """What editors of Windows add makes no difference to anything."""
    (folder / file).write_bytes(as_saved((folder / file).read_bytes()))
    assert octoc("build", "--workspace", str(folder)).status == 0


@pytest.mark.parametrize(
    "file, old, new, column",
    [
        ("octoc.toml", b'name = "acme"\n\n[[', b'name = "acme"\nnmae = 1\n\n[[', 1),
        (".mcp.json", b'"args": []', b'"args": 7', 15),
        (MANIFEST, b'["time"]', b"7", 16),
        (AGENT, b"name: helper", b"name: [a]", 7),
    ],
)
def test_columns_do_not_depend_on_a_mark_and_crlf(
    octoc: Octoc, folder: Path, file: str, old: bytes, new: bytes, column: int
) -> None:
    """A mistake is at the same line and column, however the file was saved."""
    data = (folder / file).read_bytes().replace(old, new)
    places = []
    for saved in (data, b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")):
        (folder / file).write_bytes(saved)
        found = octoc("check", "--json", "--workspace", str(folder)).json()
        places.append([(entry["code"], entry["line"], entry["column"]) for entry in found if entry["file"] == file])
    assert places[0] == places[1]
    assert column in {place[2] for place in places[0]}, places[0]


def test_wrong_types_at_each_level_are_told_where_they_are(octoc: Octoc, folder: Path) -> None:
    """Each wrong value has its own line, and the servers beside it stay."""
    values = ["null", "[]", '"x"', "1", "true"]
    servers = ",\n".join(
        [f'"s{i}": {value}' for i, value in enumerate(values)]
        + [f'"a{i}": {{"command": {value}}}' for i, value in enumerate(["null", "[]", "1", "{}"])]
        + [f'"e{i}": {{"command": "x", "env": {value}}}' for i, value in enumerate(values[1:])]
    )
    (folder / ".mcp.json").write_text(f'{{"mcpServers": {{\n{servers},\n"good": {{"command": "good"}}\n}}}}')
    done = octoc("build", "--json", "--workspace", str(folder))
    assert done.status == 1
    lines = {found["line"] for found in done.json()["diagnostics"] if found["file"] == ".mcp.json"}
    assert lines >= set(range(2, 15)), json.dumps(done.json()["diagnostics"], indent=1)
    shown = octoc("show", "--json", "--bundle", str(folder / "dist" / "acme.octoc")).json()
    assert {"good", "files", "mail"} <= {entry["name"] for entry in shown["servers"]}
