"""Kinds of files that a plugin adds: read, checked and found like octoc's own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = '''
"""A kind of file with a reader, a schema and a check of its own, and a dialect of it."""

from octoc.diagnostics.model import Place
from octoc.diagnostics.rules.check import UNEXPECTED_VALUE
from octoc.diagnostics.rules.read import TOML_SYNTAX
from octoc.plugin import Dialect, FileKind, hookimpl


def read(text, place, sink):
    """Read `KEY value` lines."""
    values = {}
    for line in text.splitlines():
        key, blank, value = line.partition(" ")
        if not blank:
            sink.report(TOML_SYNTAX, f"`{line}` has no value", at=place)
            return None
        values[key] = int(value) if value.isdigit() else value
    return values


def check(values, inspection):
    """Report what the schema cannot say."""
    if values["limit"] > 9:
        inspection.report(UNEXPECTED_VALUE, f"`limit` is {values['limit']}, expected 9 at most", ("limit",))


RATES = FileKind(
    name="acme-rates",
    read=read,
    schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["limit"],
        "properties": {"limit": {"type": "integer"}},
    },
    check=check,
    patterns=("acme/*.rates",),
    workspace_files=("acme/*.rates",),
    scan="everywhere",
)


@hookimpl
def octoc_file_kinds():
    return (RATES, Dialect(kind="acme-rates", name="old", client="Old Acme", patterns=(".acme/rates",)))
'''


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin as pip installs one."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "acme_rates.py").write_text(PLUGIN, encoding="utf-8")
    info = folder / "acme_rates-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rates\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[octoc]\nacme-rates = acme_rates\n", encoding="utf-8")
    return folder


def findings(installed: Path, cwd: Path, *words: str) -> list[tuple[str, str, str]]:
    """Return (code, message, file) of each finding of `octoc check`."""
    command = [sys.executable, "-m", "octoc", "check", "--no-cache", "--json", *words]
    env = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    return [(one["code"], one["message"], one["file"]) for one in found]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A workspace that names the plugin, with files of its kind."""
    (tmp_path / "octoc.toml").write_text(
        '[workspace]\nname = "a"\n[plugins]\nuse = ["acme-rates", "embed-onnx", "transport-mcp"]\n', encoding="utf-8"
    )
    (tmp_path / "acme").mkdir()
    (tmp_path / ".acme").mkdir()
    for name, text in {"acme/a": "limit 10", "acme/b": "limit", "acme/c": "limit many", "acme/d": "limit 3"}.items():
        (tmp_path / f"{name}.rates").write_text(text, encoding="utf-8")
    (tmp_path / ".acme/rates").write_text("speed 3", encoding="utf-8")
    return tmp_path


FOUND = [
    ("OCT204", "`limit` is 10, expected 9 at most", "acme/a.rates"),
    ("OCT106", "`limit` has no value", "acme/b.rates"),
    ("OCT203", "expected a whole number for `limit`, found a string", "acme/c.rates"),
]


def test_a_workspace_that_names_the_plugin_has_its_kind(installed: Path, project: Path) -> None:
    """The reader, the schema and the check of the plugin judge the files that builds read."""
    assert findings(installed, project) == FOUND


def test_a_file_alone_is_of_the_kind_that_its_path_says(installed: Path, project: Path) -> None:
    """A file that the workspace does not read is checked by itself, also in the plugin's dialect."""
    assert findings(installed, project, ".acme/rates") == [
        ("OCT202", "the file has no `limit`", ".acme/rates"),
    ]
    (project / "other.txt").write_text("limit 10", encoding="utf-8")
    named = findings(installed, project, "--kind", "acme-rates", "other.txt")
    assert named == [("OCT204", "`limit` is 10, expected 9 at most", "other.txt")]


def test_a_kind_of_a_plugin_that_the_workspace_does_not_use_is_refused(installed: Path, project: Path) -> None:
    """`--kind` with such a kind is an error that names the setting, and not another kind."""
    (project / "octoc.toml").write_text('[workspace]\nname = "a"\n', encoding="utf-8")
    ((code, message, _),) = findings(installed, project, "--kind", "acme-rates", "acme/a.rates")
    assert (code, message) == (
        "OCT128",
        "kind `acme-rates` is a plugin's, and the workspace does not use the plugin",
    )
