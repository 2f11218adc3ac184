"""A key of `[servers.NAME]` is the models and the schema: nothing else in octoc names it."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import attrs

from octoc.bundle.model import ServerDefinition, ToolPolicy
from octoc.compiler.model.settings import ServerSettings, ToolSettings
from octoc.compiler.resolve.bundle_fields import bundle_fields

ROOT = Path(__file__).resolve().parents[3]
KEYS = json.loads((ROOT / "schemas/workspace.v1.json").read_text("utf-8"))["$defs"]


def test_every_key_has_a_field_of_the_bundle() -> None:
    """Each key of the schema is a field of the settings and, maybe with `_s`, one of the bundle's model."""
    for name, settings, cls in (("server", ServerSettings, ServerDefinition), ("tool", ToolSettings, ToolPolicy)):
        keys = set(KEYS[name]["properties"])
        assert keys == set(attrs.fields_dict(settings)), name
        named = keys - {"tools", "builtin"}  # `builtin` declares a server
        made = bundle_fields(cls, settings(**dict.fromkeys(named, "x")))  # type: ignore[arg-type]
        assert len(made) == len(named), name


def test_a_new_key_needs_no_other_place(tmp_path: Path) -> None:
    """A key that both models and the schema get reaches the bundle."""
    tree = tmp_path / "tree"
    for name in ("octoc", "schemas"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path, old, new in (
        ("octoc/bundle/model.py", "    idle_close_s: float = 300.0\n", "    linger_s: float = 1.0\n"),
        (
            "octoc/compiler/model/settings.py",
            "    idle_close: float | None = None\n",
            "    linger: float | None = None\n",
        ),
        ("schemas/workspace.v1.json", '        "idle_close": {\n', '        "linger": { "type": "number" },\n'),
    ):
        text = (tree / path).read_text("utf-8")
        assert text.count(old) == 1, path
        (tree / path).write_text(text.replace(old, new + old), "utf-8")
    root = tmp_path / "w"
    root.mkdir()
    (root / "octoc.toml").write_text(
        '[workspace]\nname = "w"\n\n[routing]\nencoder = "none"\n\n[servers.docs]\nlinger = 7\n', "utf-8"
    )
    (root / ".mcp.json").write_text('{"mcpServers": {"docs": {"command": "docs-mcp"}}}', "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "octoc", "build", "--allow-degraded"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(root / "dist/w.octoc") as bundle:
        assert json.loads(bundle.read("servers.json"))[0]["linger_s"] == 7.0
