"""Plugins, examples and pages import octoc from its public faces, and not from modules below."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FACES = (
    "octoc.adapters",
    "octoc.compiler",
    "octoc.plugin",
    "octoc.plugin.toolkit",
    "octoc.runtime",
    "octoc.testing",
)
"""Packages whose `__all__` has all that others need."""
OTHERS = ("octoc", "octoc.cli.toolkit")
"""What plugins import beside the faces: the version, and what commands of `octoc` are made of."""
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def below_faces(source: str, *more: str) -> list[str]:
    """Return the modules of octoc that Python text imports, except faces and `more`."""
    modules: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            is_face = node.module in FACES
            exported = importlib.import_module(node.module).__all__ if is_face and node.module else ()
            # A name that a face does not export is a module below it.
            modules += [str(node.module)] + [
                f"{node.module}.{one.name}" for one in node.names if is_face and one.name not in exported
            ]
    allowed = {*FACES, *OTHERS, *more}
    return [name for name in modules if name.split(".")[0] == "octoc" and name not in allowed]


def hidden_exports(face: str, exported: Iterable[str]) -> list[str]:
    """Return the exports of a package with the name of a module in it: importing the module replaces the export."""
    folder = ROOT.joinpath(*face.split("."))
    modules = {path.stem if path.is_file() else path.name for path in folder.glob("*")}
    return sorted(modules.intersection(exported))


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
    """No plugin and no example imports a module below a face."""
    files = [*ROOT.glob("plugins/*/octoc_*/**/*.py"), *ROOT.glob("examples/**/*.py")]
    assert len(files) > 50
    below = {str(file.relative_to(ROOT)): below_faces(file.read_text(encoding="utf-8")) for file in files}
    assert {file: names for file, names in below.items() if names} == {}


def test_tests_of_plugins_import_faces() -> None:
    """Tests of plugins import faces and the command line."""
    files = list(ROOT.glob("plugins/*/tests/**/*.py"))
    assert len(files) > 50
    texts = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}
    below = {file: below_faces(text, "octoc.cli") for file, text in texts.items()}
    assert {file: names for file, names in below.items() if names} == {}


def test_tests_and_benchmarks_import_the_face_of_testing() -> None:
    """Only tests of `octoc.testing` itself import modules below it."""
    files = {*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")} - {*ROOT.glob("tests/testing/*.py")}
    assert len(files) > 300
    below = {file.name: below_faces(file.read_text(encoding="utf-8")) for file in files}
    assert [(file, name) for file, names in below.items() for name in names if name.startswith("octoc.testing.")] == []


@pytest.mark.parametrize("face", FACES)
def test_no_module_hides_an_export(face: str) -> None:
    """No export of a face has the name of a module or folder of the face."""
    assert hidden_exports(face, importlib.import_module(face).__all__) == []
    assert hidden_exports("octoc.testing", ["oauth_server", "workspace"]) == ["workspace"]


def test_examples_of_the_documentation_import_faces() -> None:
    """No Python example of README.md, a page or a plugin's README.md imports a module below a face."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/README.md")]
    examples = [(page.name, text) for page in pages for text in _PYTHON.findall(page.read_text(encoding="utf-8"))]
    assert len(examples) > 3
    assert [(page, names) for page, text in examples if (names := below_faces(text))] == []


@pytest.mark.parametrize(
    "source",
    [
        "from octoc.runtime.session import Session",
        "def f():\n    import octoc.runtime.values as values",
        "from octoc.plugin.protocols import Host",
        "from octoc.plugin import protocols",
        "from octoc.compiler.workspace.paths import find_workspace",
        "from octoc.secrets import redact",
        "from octoc.cli.options import agent_option",
        "import octoc.testing.http_faults",
        "from octoc.testing.authorization import oauth_server",
        "from octoc.testing import http_faults",
    ],
)
def test_an_import_below_a_face_is_found(source: str) -> None:
    """The check sees an import of a module, wherever it stands; one of the face is fine."""
    assert len(below_faces(source)) == 1
    assert below_faces("from octoc.plugin import Host\nfrom octoc.cli.toolkit import UserError") == []
