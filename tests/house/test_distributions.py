"""octoc and its plugins are released together, and each folder of `plugins/` is a distribution."""

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest

import octoc

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = sorted(path for path in ROOT.glob("plugins/*") if path.is_dir())


def _project(folder: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: str(folder.name))
def test_a_plugin_is_a_distribution(folder: Path) -> None:
    """A plugin's folder has its name and octoc's version, an entry point in the group `octoc`, README, types, tests.

    The adapter of a framework has no entry point: a program of the framework imports it. Nor has a package of data.
    """
    project = _project(folder)
    package = folder / folder.name.replace("-", "_")
    assert project["name"] == folder.name
    assert project["version"] == octoc.__version__
    files = list(package.rglob("*.py"))
    is_adapter = any("from octoc.adapters import" in file.read_text(encoding="utf-8") for file in files)
    is_data = files == [package / "__init__.py"] and not ast.parse(files[0].read_text(encoding="utf-8")).body[1:]
    assert ("octoc" in project.get("entry-points", {})) is not (is_adapter or is_data)
    assert (folder / "README.md").is_file()
    assert (package / "__init__.py").is_file()
    assert (package / "py.typed").is_file()
    assert list((folder / "tests").rglob("test_*.py"))


def test_the_extra_all_asks_for_plugins_of_this_version() -> None:
    """Each plugin that `octoc[all]` asks for is in the tree, and is asked for in octoc's own version."""
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["metadata"]["hooks"]
    asked = [item for item in hook["custom"]["extras"]["all"] if not item.startswith("octoc[")]
    assert asked
    for requirement in asked:
        name, _, version = requirement.partition("==")
        name, _, extra = name.rstrip("]").partition("[")
        assert version == octoc.__version__
        assert ROOT / "plugins" / name in PLUGINS
        assert not extra or extra in _project(ROOT / "plugins" / name)["optional-dependencies"]
