"""Transport kinds are data: one table names those of known clients, and other code compares no kind with a literal."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from octoc.plugin.manager import Plugins
from octoc.plugin.transports import transport_kinds
from octoc.transport_kinds import STANDARD

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path("octoc/transport_kinds.py")
GATEWAY = frozenset({Path("octoc/plugin/gateway.py"), Path("octoc/cli/commands/serve.py")})
"""Names that clients of the gateway use, which are not kinds of servers."""
TESTING = Path("octoc/testing")
# A collection with one of these lists kinds; the others are also words of URLs, or of something else.
TELLING = frozenset({"stdio", "sse"})


def violations(root: Path) -> list[str]:
    """Return, sorted, each place in `octoc/` below `root` that compares or lists kinds, as `path:line: what`."""
    found = []
    for path in (root / "octoc").rglob("*.py"):
        inside = path.relative_to(root)
        if inside != TABLE and inside not in GATEWAY and not inside.is_relative_to(TESTING):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [f"{inside.as_posix()}:{line}: {what}" for line, what in _of_file(tree)]
    return sorted(found)


def _of_file(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                if any(_words(side) & STANDARD.keys() for side in sides) and any(_is_transport(side) for side in sides):
                    yield node.lineno, "compares a transport kind with a literal"
            case ast.Match(subject=subject) if _is_transport(subject):
                yield node.lineno, "matches a transport kind with literals"
            case ast.Tuple() | ast.List() | ast.Set() | ast.Dict() if _words(node) & TELLING:
                yield node.lineno, "lists transport kinds"


def _words(node: ast.expr) -> set[str]:
    """Return the strings that a literal is or lists."""
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return {text for part in parts for text in _words(part)}
        case ast.Dict(keys=keys):
            return {text for key in keys if key is not None for text in _words(key)}
    return set()


def _is_transport(node: ast.expr) -> bool:
    return "transport" in ast.unparse(node)


def test_kinds_are_named_in_one_table() -> None:
    """No code of octoc outside the table compares a transport kind with a literal, or lists kinds."""
    assert violations(ROOT) == []


@pytest.mark.parametrize(
    "planted",
    [
        'def is_local(server):\n    return server.transport == "stdio"\n',
        'def is_remote(server):\n    return server.transport in ("http", "ws")\n',
        'PLUGIN_OF = {"stdio": "transport-mcp", "rest": "transport-rest"}\n',
        'URL_KINDS = frozenset({"http", "sse"})\n',
        'def port(server):\n    match server.transport:\n        case "http":\n            return 80\n',
    ],
)
def test_a_planted_comparison_is_found(tmp_path: Path, planted: str) -> None:
    """A module that compares a kind with a literal, or lists kinds, is a violation."""
    target = tmp_path / "octoc" / "runtime" / "local.py"
    target.parent.mkdir(parents=True)
    target.write_text(planted, encoding="utf-8")
    assert [line.partition(":")[0] for line in violations(tmp_path)] == ["octoc/runtime/local.py"]


def test_the_plugins_of_the_tree_register_what_they_connect() -> None:
    """Each kind of the table that names a plugin of octoc is registered by that plugin, and octoc refuses none."""
    registered = transport_kinds(Plugins(names=None))
    assert registered.refused == ()
    assert registered.connected == {kind.key for kind in STANDARD.values() if kind.plugin is not None}
