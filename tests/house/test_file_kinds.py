"""A kind of file is data: its file below `octoc/compiler/inputs/` says what differs, and no other code asks for it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from octoc.compiler.inputs.registry import KINDS, FileKinds
from octoc.compiler.model.settings import USUAL_PLUGINS
from octoc.plugin.file_kinds import FileKind, load_function
from octoc.plugin.manager import load_plugins

ROOT = Path(__file__).resolve().parents[2]
INPUTS = Path("octoc/compiler/inputs")
NAMES = frozenset(kind.name.upper().replace("-", "_") for kind in KINDS)
"""The constants that hold octoc's own kinds."""
WORDS = frozenset(kind.name for kind in KINDS)


def violations(root: Path) -> list[str]:
    """Return, sorted, each place in `octoc/` below `root` that tells kinds apart, as `path:line: what`."""
    found = []
    for path in (root / "octoc").rglob("*.py"):
        inside = path.relative_to(root)
        if not inside.is_relative_to(INPUTS):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [f"{inside.as_posix()}:{line}: {what}" for line, what in _of_file(tree)]
    return sorted(found)


def _of_file(tree: ast.Module) -> Iterator[tuple[int, str]]:
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("octoc.compiler.inputs")
        for alias in node.names
        if alias.name in NAMES
    }
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                if any(_is_kind(side, imported) for side in sides):
                    yield node.lineno, "compares a kind of file"
                elif any(_is_name_of_kind(side) for side in sides) and any(_words(side) & WORDS for side in sides):
                    yield node.lineno, "compares the name of a kind with a literal"
            case ast.Dict(keys=keys):
                if any(key is not None and _is_kind(key, imported) for key in keys):
                    yield node.lineno, "has a table by kind of file"
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                if any(_is_kind(part, imported) for part in parts):
                    yield node.lineno, "lists kinds of files"


def _is_kind(node: ast.expr, imported: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in imported


def _is_name_of_kind(node: ast.expr) -> bool:
    return ast.unparse(node).endswith(("kind.name", "kind"))


def _words(node: ast.expr) -> set[str]:
    """Return the strings that a literal is or lists."""
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return {text for part in parts for text in _words(part)}
    return set()


def test_no_code_asks_which_kind_a_file_is() -> None:
    """Outside the folder of kinds nothing compares a kind, lists kinds, or has a table by kind."""
    assert violations(ROOT) == []


@pytest.mark.parametrize(
    "planted",
    [
        "from octoc.compiler.inputs.skill import SKILL\n\ndef f(file):\n    return file.kind is SKILL\n",
        "from octoc.compiler.inputs.mcp.servers import MCP\n\ndef f(file):\n    return file.kind is not MCP\n",
        "from octoc.compiler.inputs.skill import SKILL\n\n_MARKDOWN = frozenset({SKILL})\n",
        "from octoc.compiler.inputs.scopes import SCOPES\n\nWORDS = {SCOPES: 'a table'}\n",
        "def f(file):\n    return file.kind.name == 'mcp'\n",
        "def f(kind):\n    return kind in ('skill', 'agent-md')\n",
    ],
)
def test_a_planted_switch_is_found(tmp_path: Path, planted: str) -> None:
    """A module that tells kinds apart by itself is a violation."""
    target = tmp_path / "octoc" / "compiler" / "read" / "planted.py"
    target.parent.mkdir(parents=True)
    target.write_text(planted, encoding="utf-8")
    assert len(violations(tmp_path)) == 1


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_each_function_of_a_kind_is_there(kind: FileKind) -> None:
    """What a kind names as `module:name` can be imported and called."""
    for function in (kind.check, kind.exclude, kind.structure):
        assert function is None or callable(load_function(function))


def test_the_plugins_that_every_workspace_has_add_no_kinds() -> None:
    """A workspace with the usual plugins alone is not asked for kinds, which would import them."""
    assert load_plugins(USUAL_PLUGINS).file_kinds() == ()
    assert FileKinds(load_plugins(USUAL_PLUGINS)).kinds == KINDS
