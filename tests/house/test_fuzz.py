"""`make fuzz` finds what breaks a property test, and prints it as a fixed example."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROFILE = """
from hypothesis import HealthCheck, settings
settings.register_profile("fuzz", database=None, print_blob=True, suppress_health_check=list(HealthCheck))
"""
LAW = """
from hypothesis import example, given, strategies as st

@given(number=st.integers(), words=st.lists(st.text()))
def test_small(number, words, tmp_path):
    assert tmp_path.is_dir() and number < 1000

@given(data=st.data())
def test_drawn(data):
    assert data.draw(st.integers()) < 1000

@given(number=st.integers())
def test_sound(number):
    assert number == number
"""
RUN = """
import math, sys
from tests.fuzz import run
found = run(1, math.inf, [sys.argv[1]])
print(found.broken, found.tests, found.examples)
for one in sorted(found.counterexamples, key=lambda one: one.test):
    print(one.text)
"""


def _fuzzed(folder: Path, law: str) -> str:
    (folder / "conftest.py").write_text(PROFILE)
    (folder / "test_law.py").write_text(law)
    command = [sys.executable, "-c", RUN, str(folder / "test_law.py")]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_a_counterexample_can_be_pasted(tmp_path: Path) -> None:
    """It has the arguments that hypothesis gave, and with it the test fails on every machine."""
    drawn, small = _fuzzed(tmp_path, LAW).split("@example(")
    assert drawn.startswith(" 3 ")
    assert "@reproduce_failure(" in drawn
    assert small.split() == ["number=1000,", "words=[],", ")"]

    fixed = LAW.replace("@given(number=st.integers(), words", f"@example({small}@given(number=st.integers(), words")
    fixed = fixed.replace("number < 1000", "number != 1000")
    assert "@example(\n    number=1000" in _fuzzed(tmp_path, fixed)


def test_a_test_that_cannot_be_imported_is_shown(tmp_path: Path) -> None:
    """A round that runs nothing says why."""
    assert "SyntaxError" in _fuzzed(tmp_path, "def")


@pytest.mark.parametrize("target", ["help", "fuzz", "test"])
def test_the_makefile_has_the_target(target: str) -> None:
    """CONTRIBUTING.md names targets that are there."""
    assert f"\n{target}:" in (ROOT / "Makefile").read_text()
    assert target == "help" or f"make {target}" in (ROOT / "CONTRIBUTING.md").read_text()
