"""Names of classes: an exception ends in `Error`, and two public classes never share a name."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXCEPTIONS = ("Error", "Exception", "ExceptionGroup")
"""What names of exceptions to inherit from end in."""


def classes_of(source: str) -> Iterator[ast.ClassDef]:
    """Yield the classes that Python text defines, at any depth."""
    return (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))


def misnamed(source: str) -> list[str]:
    """Return the exceptions that Python text defines under names that do not end in `Error`."""
    return [
        one.name
        for one in classes_of(source)
        if not one.name.endswith("Error") and any(ast.unparse(base).endswith(EXCEPTIONS) for base in one.bases)
    ]


def shared(sources: dict[str, str]) -> dict[str, list[str]]:
    """Return each public class name of several files, with the files."""
    files = defaultdict(list)
    for file, source in sources.items():
        for one in classes_of(source):
            if not one.name.startswith("_"):
                files[one.name].append(file)
    return {name: found for name, found in files.items() if len(found) > 1}


def sources() -> dict[str, str]:
    """Return the text of each file of octoc and its plugins."""
    files = [*ROOT.glob("octoc/**/*.py"), *ROOT.glob("plugins/*/octoc_*/**/*.py")]
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def test_exceptions_end_in_error() -> None:
    """Each exception of octoc and its plugins has a name that ends in `Error`."""
    assert {file: names for file, source in sources().items() if (names := misnamed(source))} == {}


def test_classes_do_not_share_a_name() -> None:
    """Each name of a public class stands for one class, without exceptions."""
    assert shared(sources()) == {}


@pytest.mark.parametrize("base", ["Exception", "ValueError", "httpx2.DecodingError", "A, asyncio.TimeoutError"])
def test_a_misnamed_exception_is_found(base: str) -> None:
    """The check sees an exception of any base; a class of another base may have any name."""
    assert misnamed(f"def f():\n    class Broken({base}): ...") == ["Broken"]
    assert misnamed(f"class BrokenError({base}): ...\nclass Broken(Base): ...") == []


def test_a_shared_name_is_found() -> None:
    """The check sees a public name of two files; private names are free."""
    text = "class Lease: ...\nclass _Lease: ..."
    assert shared({"a.py": text, "b.py": text}) == {"Lease": ["a.py", "b.py"]}
