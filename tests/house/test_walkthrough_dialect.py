"""CONTRIBUTING.md's steps for a client's dialect, done in a scratch copy of the tree."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEW = "octoc/compiler/inputs/mcp/zenith.py"
TEXT = '''"""Zenith's `.zenith/mcp.json`."""

from octoc.plugin.file_kinds import Dialect

ZENITH = Dialect(kind="mcp", name="zenith", client="Zenith", patterns=(".zenith/mcp.json",), reads_comments=True)
'''
EDITS = {
    "octoc/compiler/inputs/registry.py": (
        ("from octoc.compiler.inputs.mcp.claude import", "from octoc.compiler.inputs.mcp.zenith import ZENITH\n{}"),
        ("PLUGIN_MANIFEST, UNNAMED)", "PLUGIN_MANIFEST, UNNAMED, ZENITH)"),
    ),
    "docs/check.md": (("| `AGENT.md`", "| `.zenith/mcp.json` (Zenith) | `mcp:zenith` | comments are read |\n{}"),),
    "tests/compiler/inputs/test_dialects.py": (
        ('        ("mcp", "/p/mcp.json",', '        ("mcp", "/p/.zenith/mcp.json", "zenith", "/p"),\n{}'),
    ),
}
"""File -> what stands there, and what stands there instead; `{}` is the old text."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree in which the steps are done."""
    root = tmp_path_factory.mktemp("copy")
    for folder in ("octoc", "schemas", "taps", "tests/compiler/inputs", "tests/house"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("docs/check.md", "conftest.py", "pyproject.toml"):
        (root / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, root / file)
    (root / NEW).write_text(TEXT, encoding="utf-8")
    for file, edits in EDITS.items():
        text = (root / file).read_text(encoding="utf-8")
        for old, new in edits:
            assert text.count(old) == 1, (file, old)
            text = text.replace(old, new.replace("{}", old))
        (root / file).write_text(text, encoding="utf-8")
    return root


def run(copy: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a module of the copy."""
    env = {**os.environ, "PYTHONPATH": str(copy)}
    return subprocess.run([sys.executable, "-m", *words], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_the_steps_touch_few_files() -> None:
    """A dialect is one file of its own, and at most four others change."""
    assert len(EDITS) <= 4
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    steps = page.partition("**A client's dialect.**")[2].partition("\n\n")[0]
    for path in (str(Path(NEW).parent), *EDITS):
        assert Path(path).name in steps, path


def test_the_new_client_is_known(copy: Path, tmp_path: Path) -> None:
    """`octoc check` finds its file, reads its comments, and names the client; `--kind` takes the dialect."""
    (tmp_path / ".zenith").mkdir()
    (tmp_path / ".zenith/mcp.json").write_text('{\n  // ours\n  "servers": {}\n}\n', encoding="utf-8")
    done = run(copy, "octoc", "check", "--no-cache", "--output-format", "concise", "-v", cwd=tmp_path)
    assert "OCT108" in done.stdout, done.stderr
    assert "Zenith reads `mcpServers`" in done.stdout
    alone = run(copy, "octoc", "check", "--no-cache", "--kind", "mcp:zenith", ".zenith/mcp.json", cwd=tmp_path)
    assert "Zenith reads `mcpServers`" in alone.stdout, alone.stderr


def test_its_own_tests_pass(copy: Path) -> None:
    """The tests of dialects pass in the copy with the new path in them, and so does the law of one file for each."""
    tests = ("tests/compiler/inputs/test_dialects.py", "tests/house/test_dialects.py")
    done = run(copy, "pytest", "-q", "-p", "no:cacheprovider", *tests, cwd=copy)
    assert done.returncode == 0, done.stdout
