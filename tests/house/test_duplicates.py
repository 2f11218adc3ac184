"""No block of eight code lines stands twice: one piece of code serves both places."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeGuard

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES = 8
FOLDERS = ("octoc", "plugins", "benchmarks", "examples", "deploy")
_LEFT_OUT = frozenset({"tests", "build", "dist", ".venv"})
_BREAKS = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
})  # fmt: skip
_LITERALS = {tokenize.STRING: "a text", tokenize.NUMBER: "a number"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def sources(root: Path) -> Iterator[Path]:
    """Yield the Python files of a checkout, without tests."""
    for path in sorted(itertools.chain(root.glob("*.py"), *((root / folder).rglob("*.py") for folder in FOLDERS))):
        if _LEFT_OUT.isdisjoint(path.relative_to(root).parts):
            yield path


def code_lines(text: str) -> list[tuple[int, str]]:
    """Return the number and the tokens of each line of code, without imports and docstrings.

    Inside a function any literal is like any other: a copy with another message is a copy. Outside, rows of a table
    differ only by their literals.
    """
    left_out: set[int] = set()
    in_function: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_docstring(node):
            left_out |= _lines_of(node)
        elif isinstance(node, _FUNCTIONS):
            in_function |= _lines_of(node)
    found: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type not in _BREAKS and line not in left_out:
            found[line].append(_LITERALS.get(token.type, token.string) if line in in_function else token.string)
    return [(line, " ".join(tokens)) for line, tokens in sorted(found.items())]


def _is_docstring(node: ast.AST) -> TypeGuard[ast.Expr]:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _lines_of(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def duplicates(root: Path, lines: int = LINES) -> list[str]:
    """Return each pair of blocks of `lines` or more equal lines below `root`, as `path:line path:line (how many)`."""
    texts = {path: code_lines(path.read_text(encoding="utf-8")) for path in sources(root)}
    places: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path, code in texts.items():
        for start in range(len(code) - lines + 1):
            places[tuple(tokens for _, tokens in code[start : start + lines])].append((path, start))
    pairs = {pair for same in places.values() for pair in itertools.combinations(same, 2)}
    found = []
    for (one, first), (other, second) in sorted(pairs):
        length = _equal(texts[one][first:], texts[other][second:])
        goes_on = ((one, first - 1), (other, second - 1)) in pairs
        if not goes_on and (one != other or first + length <= second):
            at = (
                f"{path.relative_to(root).as_posix()}:{texts[path][start][0]}"
                for path, start in ((one, first), (other, second))
            )
            found.append(f"{' '.join(at)} ({length} lines)")
    return found


def _equal(one: Sequence[tuple[int, str]], other: Sequence[tuple[int, str]]) -> int:
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0][1] == pair[1][1], zip(one, other, strict=False)))


def test_no_block_of_code_stands_twice() -> None:
    """No eight code lines in a row are those of another place, imports, docstrings and tests left out."""
    assert duplicates(ROOT) == []


LONG = "a line\n" * 20
BODY = [
    "total = 0",
    "for item in items:",
    "    if item.size > limit:",
    '        log.warning("`%s` is too large", item.name)',
    "        continue",
    "    total += item.size * 2",
    "    seen.add(item.name)",
    "return total",
]


def _function(name: str, body: Sequence[str]) -> str:
    return "\n".join([f"def {name}(items, limit):", f'    """Return {name}."""', *(f"    {line}" for line in body), ""])


def _found(tmp_path: Path, files: Mapping[str, str]) -> list[str]:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return duplicates(tmp_path)


def test_a_copy_is_found_whatever_was_changed_around_it(tmp_path: Path) -> None:
    """Comments, blank lines, indentation, another message and another number hide no copy."""
    changed = [line.replace("too large", "refused").replace("2", "3") for line in BODY]
    copy = [part for line in changed for part in ("", "# A comment.", f"    {line}")]
    files = {
        "octoc/one.py": f"import a\n\n{_function('one', BODY)}",
        "plugins/octoc-x/octoc_x/two.py": _function("two", ["if items:", *copy]),
    }
    assert _found(tmp_path, files) == ["octoc/one.py:5 plugins/octoc-x/octoc_x/two.py:6 (8 lines)"]


def test_a_copy_in_the_same_file_is_found(tmp_path: Path) -> None:
    """Two functions of one file with the same body are one pair."""
    assert _found(tmp_path, {"octoc/one.py": _function("one", BODY) + _function("two", BODY)}) == [
        "octoc/one.py:3 octoc/one.py:13 (8 lines)"
    ]


@pytest.mark.parametrize(
    "path,text",
    [
        ("octoc/two.py", _function("two", BODY[:-1])),
        ("octoc/two.py", _function("two", ["pass", *BODY[:5], "    other()", *BODY[5:]])),
        ("tests/test_two.py", _function("two", BODY)),
        ("plugins/octoc-x/tests/test_two.py", _function("two", BODY)),
        ("octoc/two.py", "".join(f"from octoc.one import name_{number}\n" for number in range(9)) * 2),
        ("octoc/two.py", "".join(f'ROW_{number} = """\n{LONG}"""\n' for number in range(3))),
        ("octoc/two.py", "TABLE = [\n" + "".join(f'    ("{number}", {number}),\n' for number in range(20)) + "]\n"),
    ],
    ids=["seven lines", "interrupted", "a test", "a plugin's test", "imports", "lines of a text", "rows of a table"],
)
def test_what_only_looks_alike_is_no_copy(tmp_path: Path, path: str, text: str) -> None:
    """Fewer lines, tests, imports, long texts and rows of tables are left out."""
    assert _found(tmp_path, {"octoc/one.py": _function("one", BODY), path: text}) == []
