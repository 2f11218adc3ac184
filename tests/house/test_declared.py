"""Every distribution of the tree declares every package that it imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from tests.house.test_imports import imports_of

ROOT = Path(__file__).resolve().parents[2]
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def undeclared(root: Path, distributions_of: Mapping[str, list[str]]) -> list[str]:
    """Return, sorted, each import below `root` (a checkout) of a package that its distribution does not declare.

    Type-only imports and those inside functions count. `distributions_of` has the distributions of a package.
    """
    found: set[str] = set()
    for folder, package in _distributions(root):
        declared = {_canonical(name) for name in _declared(folder)} | {_canonical(folder.name)}
        for path in sorted(package.rglob("*.py")):
            parts = path.relative_to(package.parent).parts
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
            for imported in imports_of(tree, parts[:-1]):
                top = imported.module.partition(".")[0]
                if top in sys.stdlib_module_names or top == package.name:
                    continue
                names = {_canonical(name) for name in distributions_of.get(top, [top])}
                if not names & declared:
                    found.add(f"{path.relative_to(root).as_posix()}:{imported.line}: `{top}` is not declared")
    return sorted(found)


def _distributions(root: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each distribution's folder and package."""
    yield root, root / "octoc"
    for folder in sorted(root.glob("plugins/*")):
        if (folder / "pyproject.toml").is_file():
            yield folder, folder / folder.name.replace("-", "_")


def _declared(folder: Path) -> Iterator[str]:
    """Yield the names of what a distribution requires, extras included."""
    data: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    hooks = data.get("tool", {}).get("hatch", {}).get("metadata", {}).get("hooks", {}).get("custom", {})
    project = data["project"]
    for extras in (
        {"": project.get("dependencies", [])},
        project.get("optional-dependencies", {}),
        hooks.get("extras", {}),
    ):
        for requirements in extras.values():
            for requirement in requirements:
                match = _NAME.match(requirement)
                assert match is not None, requirement
                yield match.group()


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


FRAMEWORKS = {"agents": ["openai-agents"], "pydantic_ai": ["pydantic-ai-slim"], "key_value": ["py-key-value-aio"]}
"""Packages that an environment may lack, such as frameworks, with another name than their distribution."""


def test_every_distribution_declares_what_it_imports() -> None:
    """The metadata of octoc and of each plugin names the distribution of every package that its files import."""
    assert undeclared(ROOT, {**packages_distributions(), **FRAMEWORKS}) == []


PLANTED = [
    ("import undeclared_package", "undeclared_package"),
    ("def f():\n    from yaml import safe_load", "yaml"),
    ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from anyio.abc import TaskGroup", "anyio"),
]


@pytest.mark.parametrize("source, package", PLANTED)
def test_an_undeclared_import_is_found(tmp_path: Path, source: str, package: str) -> None:
    """A package that the metadata does not name is reported, also where it is imported for types or in a function."""
    _plant(tmp_path, source)
    (found,) = undeclared(tmp_path, {"yaml": ["PyYAML"]})
    assert found.startswith("plugins/octoc-a/octoc_a/b.py:")
    assert found.endswith(f"`{package}` is not declared")


def test_a_declared_import_is_not_reported(tmp_path: Path) -> None:
    """A package may have another name than its distribution, and an extra declares as well."""
    _plant(tmp_path, "import json\nimport octoc_a.c\nimport octoc.names\nimport re2\nimport onnx")
    assert undeclared(tmp_path, {"re2": ["google-re2"]}) == []


def _plant(root: Path, source: str) -> None:
    package = root / "plugins" / "octoc-a" / "octoc_a"
    package.mkdir(parents=True)
    package.joinpath("b.py").write_text(source, encoding="utf-8")
    project = '[project]\nname = "octoc-a"\ndependencies = ["octoc==1", "Google_RE2>=1.1"]\n'
    extras = "[project.optional-dependencies]\nmore = [\"onnx>=1 ; python_version > '3'\"]\n"
    (root / "plugins" / "octoc-a" / "pyproject.toml").write_text(project + extras, encoding="utf-8")
    (root / "octoc").mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "octoc"\n', encoding="utf-8")
