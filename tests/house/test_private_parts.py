"""Private parts of other libraries are used only where `private_parts.toml` says what they buy and what stands in."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("private_parts.toml")
_PUBLIC = frozenset({"_replace", "_asdict", "_fields", "_make"})
"""Names of named tuples, which the standard library documents."""


def private_parts(root: Path) -> dict[tuple[str, str], int]:
    """Return each use of a private name of a third-party package below `root`: its file, the name and the first line.

    A private name of an attribute is foreign if no file of the distribution defines it; that of an import always is.
    """
    uses: dict[tuple[str, str], int] = {}
    for package in (root / "octoc", *sorted(root.glob("plugins/*/octoc_*"))):
        trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(package.rglob("*.py"))}
        own = {name for tree in trees.values() for name in _defined(tree)}
        for path, tree in trees.items():
            for name, line in _used(tree, own):
                uses.setdefault((path.relative_to(root).as_posix(), name), line)
    return uses


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _PUBLIC and name != "_"


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yield the private names that a file defines. A method that calls the same one of `super()` is not its own."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if not any(_of_super(inner) == node.name for inner in ast.walk(node)):
                yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.Tuple(elts=names)):
                yield from (
                    name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)
                )


def _of_super(node: ast.AST) -> str | None:
    match node:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
            return name
    return None


def _used(tree: ast.Module, own: set[str]) -> Iterator[tuple[str, int]]:
    """Yield the private names of third-party packages that a file uses, with lines."""
    standard = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.partition(".")[0] in sys.stdlib_module_names
    }
    for node in ast.walk(tree):
        for name in _foreign(node, own, standard):
            yield name, getattr(node, "lineno", 0)


def _foreign(node: ast.AST, own: set[str], standard: set[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=aliases):
            yield from (alias.name for alias in aliases if _foreign_module(alias.name))
        case ast.ImportFrom(module=str(module), names=aliases, level=0) if not _is_ours(module):
            if _foreign_module(module):
                yield module
            yield from (alias.name for alias in aliases if _is_private(alias.name))
        case ast.Attribute(value=ast.Name(id=value)) if value in standard:
            return
        case ast.Attribute(attr=name) if _is_private(name) and (name not in own or _of_super(node)):
            yield name
        case ast.Call(func=ast.Name(id="getattr" | "hasattr" | "setattr"), args=[_, ast.Constant(value=str(name)), *_]):
            if _is_private(name) and name not in own:
                yield name


def _is_ours(module: str) -> bool:
    top = module.partition(".")[0]
    return top == "octoc" or top.startswith("octoc_") or top in sys.stdlib_module_names


def _foreign_module(module: str) -> bool:
    return not _is_ours(module) and any(_is_private(part) for part in module.split("."))


def _table() -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))["part"]
    return parts


def test_every_private_part_is_in_the_table() -> None:
    """A use outside the table fails, and so does an entry that nothing uses."""
    listed = {(part["file"], name) for part in _table() for name in part["names"]}
    assert listed == private_parts(ROOT).keys()


@pytest.mark.parametrize("part", _table(), ids=lambda part: Path(part["file"]).stem)
def test_an_entry_names_a_benchmark_and_a_test_of_its_fallback(part: dict[str, Any]) -> None:
    """The benchmark is a module of `benchmarks/` that knows the entry, and the test exists."""
    assert part["library"]
    module, _, side = part["benchmark"].partition(": ")
    assert f'"{side}"' in (ROOT / module).read_text(encoding="utf-8")
    path, _, test = part["fallback"].partition("::")
    assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")


PLANTED = [
    ("from mcp.shared._httpx_utils import x", "mcp.shared._httpx_utils"),
    ("import mcp_types._v2025_11_25", "mcp_types._v2025_11_25"),
    ("from uvicorn.config import _x", "_x"),
    ("def f(session):\n    return session._dispatcher", "_dispatcher"),
    ("def f(session):\n    return getattr(session, '_dispatcher', None)", "_dispatcher"),
    ("class A(B):\n    def _post(self):\n        return super()._post()", "_post"),
    ("class A(B):\n    def f(self):\n        return self._foreign", "_foreign"),
]


@pytest.mark.parametrize("source, name", PLANTED)
def test_a_planted_use_is_found(tmp_path: Path, source: str, name: str) -> None:
    """A private module, name or attribute of a third-party package is reported by file and name."""
    assert private_parts(_tree(tmp_path, source)).keys() == {("plugins/octoc-a/octoc_a/b.py", name)}


ALLOWED = [
    "import os\nos._exit(1)",
    "from octoc._a import _b",
    "class A:\n    def __init__(self):\n        self._x = 1\n    def f(self, other):\n        return other._x",
    "def f(pair):\n    return pair._replace(a=1)",
]


@pytest.mark.parametrize("source", ALLOWED)
def test_own_and_standard_names_are_not_reported(tmp_path: Path, source: str) -> None:
    """The table leaves out private names of the distribution itself and of the standard library."""
    assert private_parts(_tree(tmp_path, source)) == {}


def _tree(root: Path, source: str) -> Path:
    package = root / "plugins" / "octoc-a" / "octoc_a"
    package.mkdir(parents=True)
    package.joinpath("b.py").write_text(source, encoding="utf-8")
    (root / "octoc").mkdir()
    return root
