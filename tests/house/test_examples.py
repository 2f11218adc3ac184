"""`make test` runs the same examples on every machine: one profile for all property tests, and nothing beside it."""

import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
OWNED = frozenset({"database", "deadline", "derandomize", "print_blob", "backend"})
"""Settings that conftest.py alone decides."""


def _slips(source: str) -> Iterator[str]:
    """Yield the settings in a test file that make its examples depend on the machine."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("settings", "hypothesis.settings"):
            continue
        for keyword in node.keywords:
            written = ast.unparse(keyword)
            if keyword.arg in OWNED or (
                # A list of a test's own switches the clock of `too_slow` on again.
                keyword.arg == "suppress_health_check" and written != "suppress_health_check=list(HealthCheck)"
            ):
                yield written


@pytest.mark.parametrize("tests", ["tests", "plugins", "benchmarks"])
def test_no_test_has_examples_of_its_own(tests: str) -> None:
    """Database, clock and seed of property tests are set in conftest.py alone."""
    files = sorted((ROOT / tests).rglob("test_*.py"))
    slips = {f"{file.relative_to(ROOT)}: {slip}" for file in files for slip in _slips(file.read_text())}
    assert not slips


@pytest.mark.parametrize(
    "text",
    ["deadline=None", "derandomize=False", "database=None", "suppress_health_check=[HealthCheck.filter_too_much]"],
)
def test_such_a_setting_is_found(text: str) -> None:
    """A test that decides one of these settings itself is reported."""
    assert list(_slips(f"@settings(max_examples=3, {text})\ndef test_it(): ...")) == [text]
    assert not list(_slips("@settings(max_examples=3, suppress_health_check=list(HealthCheck))\ndef test_it(): ..."))


def test_the_profile_fixes_seed_database_and_clock() -> None:
    """A run without options has no seed, no database and no time limit of its own."""
    profile = settings.get_profile("octoc")
    assert profile.derandomize
    assert profile.database is None
    assert profile.deadline is None
    assert HealthCheck.too_slow in profile.suppress_health_check
    assert not settings.get_profile("fuzz").derandomize


def test_what_is_imported_changes_no_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants of loaded modules are not drawn: which modules are loaded depends on the tests that ran before."""

    def drawn() -> list[tuple[str, int]]:
        examples: list[tuple[str, int]] = []

        @seed(1)
        @settings(max_examples=200, phases=[Phase.generate])
        @given(st.text(), st.integers())
        def draw(text: str, number: int) -> None:
            examples.append((text, number))

        draw()
        return examples

    before = drawn()
    numbers = random.Random(1)
    file = tmp_path / "constants.py"
    file.write_text("\n".join(f"A{i} = {numbers.randrange(10**6)}\nB{i} = 'constant {i}'" for i in range(500)))
    module = ModuleType("constants")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "constants", module)
    assert drawn() == before
