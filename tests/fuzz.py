"""`make fuzz`: runs every property test with new seeds until its time is over, and prints what it found.

Each round is one process, one seed, and all property tests in an order of that seed. A counterexample is printed as an
`@example` to be pasted above the test, or as the decorator that runs it again where its values have no such form.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import re
import secrets
import sys
import time
from collections.abc import Collection, Generator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random

import attrs
import pytest

ROOT = Path(__file__).resolve().parents[1]
FLEETS = "20"
"""How many fleets a round compares, where `make test` compares a few."""
_PASSING = re.compile(r"(\d+) passing")
_AGAIN = re.compile(r"@reproduce_failure\(.*\)")
_NOTE = re.compile(r"^E   ", re.MULTILINE)
_CLOSED = re.compile(r"^\)$", re.MULTILINE)
_HEAD = re.compile(r"^(?:Falsifying|Failing)(?: explicit)? (?:example|test case): ", re.MULTILINE)


@attrs.frozen
class Counterexample:
    """A failure: the test that found it, and the text to paste above the test."""

    test: str
    text: str


@attrs.define(eq=False)
class Round:
    """What one seed came to. `tests` ran to their end; `examples` are those that passed."""

    seed: int
    until: float
    tests: int = 0
    examples: int = 0
    broken: str = ""
    counterexamples: list[Counterexample] = attrs.field(factory=list)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        Random(self.seed).shuffle(items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken += f"{report.longrepr}\n"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        if time.time() < self.until:
            return None
        item.session.shouldstop = "the time is over"
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "call":
            self.tests += 1
            self.examples += sum(map(int, _PASSING.findall(getattr(item, "hypothesis_statistics", ""))))
        if report.failed:
            fixtures = getattr(item, "funcargs", {})
            self.counterexamples.append(Counterexample(item.nodeid, pasted(report.longreprtext, fixtures)))
        return report


def pasted(report: str, fixtures: Collection[str]) -> str:
    """Return the decorator that makes the counterexample of a failure's report a fixed example.

    Args:
        fixtures: arguments that pytest gives, not hypothesis.
    """
    text = _NOTE.sub("", report)
    head = _HEAD.search(text)
    if head is None:
        return text
    told = text[head.end() :]
    end = _CLOSED.search(told)
    written = told[: end.end()] if end else told
    with contextlib.suppress(SyntaxError):
        call = ast.parse(written, mode="eval").body
        if isinstance(call, ast.Call) and "data(...)" not in written:
            given = [
                f"    {keyword.arg}={ast.get_source_segment(written, keyword.value)},"
                for keyword in call.keywords
                if keyword.arg not in fixtures
            ]
            return "\n".join(["@example(", *given, ")"])
    again = _AGAIN.search(told)
    return "\n".join([*([again.group()] if again else []), *(f"# {line}" for line in written.splitlines())])


def run(seed: int, until: float, arguments: list[str]) -> Round:
    """Run all property tests with one seed; stops between two tests when the time is over."""
    os.environ.setdefault("OCTOC_FLEETS", FLEETS)
    os.chdir(ROOT)
    told, found = io.StringIO(), Round(seed, until)
    options = ["-m", "hypothesis", "-p", "no:cacheprovider", "--show-capture=no", "--tb=short", "-q"]
    options += ["--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}"]
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        status = pytest.main([*options, *arguments], plugins=[found])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
        found.broken += told.getvalue()
    return found


def main() -> int:
    """Run rounds until the time is over; returns 1 when one of them found something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="of the first round")
    options, arguments = parser.parse_known_args()
    until = time.time() + options.minutes * 60
    seed = secrets.randbits(32) if options.seed is None else options.seed
    tests = examples = failures = 0
    while time.time() < until:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            found = pool.submit(run, seed, until, arguments).result()
        if found.broken:
            print(found.broken)
            return 2
        print(f"seed {seed}: {found.tests} tests, {found.examples} examples", flush=True)
        for one in found.counterexamples:
            print(f"\n{one.test}, seed {seed}:\n{one.text}\n", flush=True)
        tests, examples = tests + found.tests, examples + found.examples
        failures += len(found.counterexamples)
        seed = secrets.randbits(32)
    print(f"{tests} tests, {examples} examples, {failures} counterexamples")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
