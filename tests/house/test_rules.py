"""Rules are data: each declares what it depends on, and only the registry knows what the number in a code means."""

import ast
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from octoc.compiler.lint.core import CoreChecks
from octoc.diagnostics.pages import page_of
from octoc.diagnostics.rule import Requirement, Rule, Scope
from octoc.diagnostics.rules import all_rules
from octoc.plugin.manager import Plugins
from octoc.plugin.rules import lint_rules

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = (Path("octoc/diagnostics/rules"), Path("octoc/plugin/rules.py"))
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
OF_POLICY = ("OCT490", "OCT491", "OCT492", "OCT493")
"""Rules over `[lint]` and suppressions, which run after every check."""
OF_READ = ("OCT725",)
"""Rules over the text of every file, which run while it is read and leave nothing out."""
PARTS = frozenset({"startswith", "endswith", "removeprefix", "removesuffix", "partition", "split"})


def violations(root: Path) -> list[str]:
    """Return, sorted, each place below `root` (a checkout) that takes a rule's code apart, as `path:line: what`."""
    found = []
    for top in (root / "octoc", *sorted(root.glob("plugins/*/octoc_*"))):
        for path in sorted(top.rglob("*.py")):
            inside = path.relative_to(root)
            if not any(inside.is_relative_to(folder) for folder in REGISTRY):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                found += [f"{inside.as_posix()}:{line}: {what}" for line, what in _of_file(tree)]
    return sorted(found)


def _of_file(tree: ast.Module) -> Iterator[tuple[int, str]]:
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings and _is_code(text):
                yield node.lineno, f"`{text}` stands for rules"
            case ast.Compare(left=left, ops=ops, comparators=others):
                if any(isinstance(op, ORDERS) for op in ops) and any(map(_is_rule_code, (left, *others))):
                    yield node.lineno, "orders codes of rules"
            case ast.Subscript(value=value) if _is_rule_code(value):
                yield node.lineno, "slices the code of a rule"
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in PARTS and _is_rule_code(value):
                yield node.lineno, f"takes the code of a rule apart by `{name}`"


def _is_code(text: str) -> bool:
    return text.startswith("OCT") and (text == "OCT" or text[3:].isdigit())


def _is_rule_code(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "code" and "rule" in ast.unparse(node.value)


def test_no_code_outside_the_registry_takes_a_code_apart() -> None:
    """Outside the registry, no code names, orders or slices the codes of rules."""
    assert violations(ROOT) == []


@pytest.mark.parametrize(
    "planted",
    [
        'def is_early(found):\n    return found.rule.code < "OCT400"\n',
        "def is_early(rule):\n    return int(rule.code[3:]) < 400\n",
        'def is_lint(rule):\n    return rule.code.startswith("OCT4")\n',
        "def is_lint(rule, first):\n    return first.rule.code <= rule.code\n",
        'WATCHED = {"OCT402", "OCT403"}\n',
        'CONDITIONAL = [f"OCT{number}" for number in range(465, 470)]\n',
    ],
)
def test_planted_code_arithmetic_is_found(tmp_path: Path, planted: str) -> None:
    """A module that derives a rule's reach from its code is a violation."""
    target = tmp_path / "octoc" / "compiler" / "reach.py"
    target.parent.mkdir(parents=True)
    target.write_text(planted, encoding="utf-8")
    assert [line.partition(":")[0] for line in violations(tmp_path)][:1] == ["octoc/compiler/reach.py"]


def test_each_rule_declares_scope_and_needs() -> None:
    """A rule without a scope cannot be made, and every rule of octoc has a scope and needs of the known kinds."""
    with pytest.raises(TypeError, match="scope"):
        Rule("OCT999", "no-scope", "A rule without a scope.")  # type: ignore[call-arg]
    for rule in all_rules().values():
        assert isinstance(rule.scope, Scope), rule
        assert all(isinstance(need, Requirement) for need in rule.needs), rule
        # What excludes runs before the gate, the lock and the variables are known.
        assert not (rule.excludes and rule.needs), rule


def test_a_rule_of_one_file_needs_nothing_of_others() -> None:
    """No rule of scope FILE needs the gate, the environment or the lock, which belong to a whole workspace."""
    whole = {Requirement.GATE, Requirement.ENVIRONMENT, Requirement.LOCK}
    assert [rule.code for rule in all_rules().values() if rule.scope is Scope.FILE and rule.needs & whole] == []


def test_each_rule_of_a_plugin_in_the_tree_can_be_used_and_has_a_page_and_a_test() -> None:
    """Octoc refuses no rule of the plugins in this checkout; each has a page, and a test that expects its code."""
    registered = lint_rules(Plugins(names=None))
    assert registered.refused == ()
    assert registered.rules
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("plugins/*/tests/test_*.py")]
    for rule in registered.rules.values():
        page = page_of(rule) or ""
        assert page.startswith(f"# {rule.code} {rule.name}\n\n{rule.summary}\n\n## What it does\n"), rule
        assert "\n## Bad\n" in page, rule
        assert "\n## Good\n" in page, rule
        assert any(f'"{rule.code}"' in text for text in texts), rule


def test_every_check_of_octoc_declares_rules_of_octoc() -> None:
    """Each check that octoc registers may report rules of octoc alone, and every lint rule has a check or a module."""
    declared = {rule for check in CoreChecks().octoc_lint_rules() for rule in check.rules}
    assert declared <= set(all_rules().values())
    of_stages = {rule for rule in all_rules().values() if rule.excludes or rule.scope is Scope.BUILD}
    others = {*OF_POLICY, *OF_READ}
    assert set(all_rules().values()) - of_stages - declared == set(map(all_rules().__getitem__, others))


def test_codes_and_names_are_unique() -> None:
    """Each field that identifies a rule has one owner."""
    for field in ("code", "name"):
        values = [attrs.asdict(rule)[field] for rule in all_rules().values()]
        assert len(values) == len(set(values))
