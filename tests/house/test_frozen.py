"""Frozen data stays as it was made: what a class remembers between calls makes it `attrs.define`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for pattern in ("octoc/**/*.py", "plugins/*/octoc_*/**/*.py")
    for path in ROOT.glob(pattern)
    if "tests" not in path.parts
)
MUTABLE = frozenset({"Counter", "MutableMapping", "OrderedDict", "defaultdict", "deque", "dict", "list", "set"})
CHANGES = frozenset({"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault"})


def violations(text: str) -> Iterator[str]:
    """Yield each field of a frozen class that starts as an empty memo, and each method that changes its instance."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and any("frozen" in ast.unparse(each) for each in node.decorator_list):
            for part in ast.walk(node):
                if _is_memo(part) or _is_change(part):
                    yield f"{node.name}: {ast.unparse(part)}"


def _is_memo(node: ast.AST) -> bool:
    if not isinstance(node, ast.AnnAssign) or "factory=" not in ast.unparse(node):
        return False
    return ast.unparse(node.annotation).partition("[")[0].rpartition(".")[2] in MUTABLE


def _is_change(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
        targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
        return any(isinstance(each, ast.Subscript) and _is_own(each.value) for each in targets)
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGES
        and _is_own(node.func.value)
    )


def _is_own(node: ast.AST) -> bool:
    """Tell whether an expression is a field of `self`, or a part of one."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def test_frozen_classes_are_never_changed() -> None:
    """No frozen class has a memo, or a method that changes one of its fields."""
    found = [f"{path.relative_to(ROOT)}: {each}" for path in SOURCES for each in violations(path.read_text("utf-8"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "body",
    [
        "seen: dict[str, int] = attrs.field(factory=dict, repr=False)",
        "known: set[str] = attrs.field(factory=set)",
        "data: Mapping[str, int]\n    def get(self):\n        self.data['a'] = 1",
        "data: Mapping[str, int]\n    def get(self):\n        self.data['a']['b'] += 1",
        "names: Sequence[str]\n    def get(self):\n        self.names.append('a')",
        "data: Mapping[str, int]\n    def get(self):\n        del self.data['a']",
    ],
)
def test_a_planted_memo_is_found(body: str) -> None:
    """A memo in a frozen class and a change of a field are reported; the same in a mutable class is not."""
    assert list(violations(f"@attrs.frozen(kw_only=True)\nclass Data:\n    {body}\n"))
    assert not list(violations(f"@attrs.define\nclass Service:\n    {body}\n"))


def test_plain_data_is_no_memo() -> None:
    """A field of an immutable type may have an empty default, and locals may change."""
    text = "@attrs.frozen\nclass Data:\n    a: Mapping[str, int] = attrs.field(factory=dict)\n"
    assert not list(violations(text + "    def get(self):\n        found = {}\n        found['a'] = self.a\n"))
