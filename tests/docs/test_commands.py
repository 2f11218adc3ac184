"""Commands of octoc that hints and pages name exist, with each option that they are given."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from octoc.cli.commands import SUMMARIES
from octoc.cli.root import root

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*ROOT.glob("octoc/**/*.py"), *ROOT.glob("plugins/*/octoc_*/**/*.py")])
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("octoc/diagnostics/docs/*.md"),
        *ROOT.glob("plugins/*/README.md"),
        *ROOT.glob("taps/**/*.md"),
        *ROOT.glob("examples/**/README.md"),
    ]
)
_QUOTED = re.compile(r"`(octoc [^`]+)`")
_TYPED = re.compile(r"^[ \t]*(?:\$ )?(octoc [^\n]+)", re.MULTILINE)
_BLOCK = re.compile(r"^```(?:sh|console|bash|yaml)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_UNKNOWN = "\N{OBJECT REPLACEMENT CHARACTER}"  # stands for a value that the code puts in


def _texts(path: Path) -> Iterator[str]:
    """Yield the texts of a module that a user may see: all but docstrings, a value in an f-string as one sign."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    quiet = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else _UNKNOWN for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet | inner:
            yield node.value


def _commands_of_code(path: Path) -> Iterator[str]:
    for text in _texts(path):
        yield from _QUOTED.findall(text)


def _commands_of_page(text: str) -> Iterator[str]:
    for block in _BLOCK.findall(text):
        yield from _TYPED.findall(block)
    yield from _QUOTED.findall(_BLOCK.sub("", text))


def _problem(line: str) -> str | None:
    """Return what is wrong with a command line that begins with `octoc`."""
    line = re.split(r"\s[|;>&]|\s{2,}#|\s#\s", line, maxsplit=1)[0]
    try:
        words = shlex.split(line)[1:]
    except ValueError:
        words = line.split()[1:]
    if not words or words[0].startswith(("-", _UNKNOWN)):
        return None
    if not re.fullmatch(r"[a-z]+", words[0]):
        return None  # prose: `octoc …`
    context = click.Context(root)
    command: click.Command | None = root
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z]+", words[0]):
        name = words.pop(0)
        if name not in command.list_commands(context):
            return f"`{line}`: there is no command `{name}`"
        command = command.get_command(context, name)
    assert command is not None
    options = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    options |= {"--help", "-h"}
    unknown = [flag for word in words if (flag := word.partition("=")[0]).startswith("-") and flag not in options]
    # A server's own arguments follow `--`.
    unknown = unknown[: unknown.index("--")] if "--" in unknown else unknown
    return f"`{line}`: there is no {', '.join(unknown)}" if unknown else None


def test_the_judge_finds_what_is_wrong() -> None:
    """An unknown command, an unknown subcommand and an unknown option are found, and right lines are not."""
    wrong = [
        "octoc biuld",
        "octoc auth logon",
        "octoc build --lockd",
        "octoc check -x",
        "octoc test --workspace . --no",
    ]
    assert [line for line in wrong if _problem(line) is None] == []
    right = ["octoc build --locked", "octoc auth login NAME", "octoc find 'x' --agent a", "octoc check --json > a.json"]
    assert [line for line in right if _problem(line) is not None] == []


@pytest.mark.parametrize("where", ["hints", "pages"])
def test_each_command_that_is_named_exists(where: str) -> None:
    """Every `octoc COMMAND --option` in the code's texts and on the pages is one that the command line has."""
    if where == "hints":
        named = [(path, line) for path in SOURCES for line in _commands_of_code(path)]
    else:
        named = [(path, line) for path in PAGES for line in _commands_of_page(path.read_text(encoding="utf-8"))]
    assert len(named) > 50
    assert {line.split()[1] for _, line in named} & set(SUMMARIES)
    problems = [f"{path.relative_to(ROOT)}: {problem}" for path, line in named if (problem := _problem(line))]
    assert problems == []
