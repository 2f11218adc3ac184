"""No import circle has more than two modules: all imports count, also local ones and those for types alone."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST = 2
FACADES = frozenset({"octoc.runtime.session", "octoc.runtime.runtime"})
KNOWN = {"octoc.runtime": 49}
"""Package -> modules in its largest circle, from before this test. A number may only shrink."""

Graph = Mapping[str, frozenset[str]]


def modules_of(root: Path) -> dict[str, Path]:
    """Return the files of `octoc/` and of the plugins by dotted name; a package is named without `__init__`."""
    modules = {}
    for folder in (root / "octoc", *sorted(root.glob("plugins/*/octoc_*"))):
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder.parent).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return modules


def graph_of(modules: Mapping[str, Path]) -> Graph:
    """Return the modules that each module imports, at any depth of its code."""
    return {
        name: frozenset(_imported(file, name, modules)).intersection(modules) - {name} for name, file in modules.items()
    }


def _imported(file: Path, name: str, modules: Mapping[str, Path]) -> Iterator[str]:
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            for alias in node.names:
                # A name that is not a module comes from the package's `__init__`.
                full = f"{base}.{alias.name}"
                yield full if full in modules else base


def circles_of(graph: Graph) -> list[frozenset[str]]:
    """Return the sets of more than one module that all import each other, directly or not."""
    circles = []
    importers = {name: frozenset(one for one in graph if name in graph[one]) for name in graph}
    left = set(graph)
    while left:
        start = left.pop()
        circle = _reached(graph, start) & _reached(importers, start) | {start}
        left -= circle
        if len(circle) > 1:
            circles.append(frozenset(circle))
    return circles


def _reached(graph: Graph, start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - reached:
            reached.add(name)
            waiting.append(name)
    return reached


def _too_large(circles: list[frozenset[str]]) -> list[list[str]]:
    return [sorted(circle) for circle in circles if len(circle) > MOST]


def test_no_circle_has_more_than_two_modules() -> None:
    """At most two modules of octoc and its plugins import each other in a circle."""
    graph = graph_of(modules_of(ROOT))
    assert len(graph) > 400
    assert _too_large(circles_of(graph)) == []


def importers_of(graph: Graph, facades: frozenset[str]) -> list[str]:
    """Return the modules below the facades' package that import one of them."""
    return sorted(name for name, imported in graph.items() if imported & facades and name.startswith("octoc.runtime."))


def test_no_feature_of_the_runtime_imports_a_facade() -> None:
    """`Session` and `Runtime` call features, which take what a session owns and never the facade."""
    assert importers_of(graph_of(modules_of(ROOT)), FACADES) == ["octoc.runtime.runtime"]


def test_a_feature_that_imports_a_facade_is_found(tmp_path: Path) -> None:
    """An import of a facade for a type alone is found."""
    package = tmp_path / "octoc" / "runtime"
    package.mkdir(parents=True)
    (package / "session.py").write_text("", encoding="utf-8")
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from octoc.runtime.session import Session"
    (package / "feature.py").write_text(source, encoding="utf-8")
    assert importers_of(graph_of(modules_of(tmp_path)), FACADES) == ["octoc.runtime.feature"]


@pytest.mark.parametrize(
    "closing",
    [
        "from octoc.a import one",
        "def f():\n    from octoc import a",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import octoc.a",
        "from ..a import one",
    ],
)
def test_a_circle_of_three_modules_is_found(tmp_path: Path, closing: str) -> None:
    """A circle is found whichever kind of import closes it, and through the `__init__` of a package."""
    package = tmp_path / "octoc" / "c"
    package.mkdir(parents=True)
    (tmp_path / "octoc" / "a.py").write_text("import octoc.b", encoding="utf-8")
    (tmp_path / "octoc" / "b.py").write_text("from octoc.c import name", encoding="utf-8")
    (package / "__init__.py").write_text(closing, encoding="utf-8")
    circles = circles_of(graph_of(modules_of(tmp_path)))
    assert _too_large(circles) == [["octoc.a", "octoc.b", "octoc.c"]]
