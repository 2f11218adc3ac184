"""Plugins and pages of the documentation import a part of octoc from its public face, and not from modules below."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FACES = ("octoc.runtime", "octoc.compiler")
"""Packages whose `__all__` has all that others need."""
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def below_faces(source: str) -> list[str]:
    """Return the modules below a face that Python text imports."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(str(node.module))
    return [name for name in names if name.startswith(tuple(f"{face}." for face in FACES))]


@pytest.mark.parametrize("face", FACES)
def test_a_face_exports_names_that_explain_themselves(face: str) -> None:
    """Each exported name is there, and each class and function of them has a docstring."""
    module = importlib.import_module(face)
    exported = {name: getattr(module, name) for name in module.__all__}
    assert inspect.getdoc(module)
    work = {name: one for name, one in exported.items() if inspect.isclass(one) or inspect.isfunction(one)}
    assert len(work) > len(exported) // 2
    assert [name for name, one in work.items() if not inspect.getdoc(one)] == []
    with pytest.raises(AttributeError):
        module.no_such_name  # noqa: B018


def test_plugins_import_faces() -> None:
    """No plugin imports a module below a face, but in its tests."""
    files = list(ROOT.glob("plugins/*/octoc_*/**/*.py"))
    assert len(files) > 50
    found = {str(file.relative_to(ROOT)): below_faces(file.read_text(encoding="utf-8")) for file in files}
    assert {file: names for file, names in found.items() if names} == {}


def test_examples_of_the_documentation_import_faces() -> None:
    """No Python example of README.md or a page imports a module below a face."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    examples = [(page.name, text) for page in pages for text in _PYTHON.findall(page.read_text(encoding="utf-8"))]
    assert len(examples) > 3
    assert [(page, names) for page, text in examples if (names := below_faces(text))] == []


@pytest.mark.parametrize(
    "source", ["from octoc.runtime.session import Session", "def f():\n    import octoc.runtime.values as values"]
)
def test_an_import_below_a_face_is_found(source: str) -> None:
    """The check sees an import of a module, wherever it stands; one of the face is fine."""
    assert len(below_faces(source)) == 1
    assert below_faces("from octoc.runtime import Session") == []
