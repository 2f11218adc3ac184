"""What `import octoc.runtime` loads, seen in a process of its own."""

import json
import subprocess
import sys

HEAVY = {
    *("tomlkit", "jsonschema", "jinja2", "sklearn", "yaml", "tree_sitter", "cattrs"),  # the compiler's
    *("onnxruntime", "tokenizers", "httpx", "httpx2", "mcp", "pydantic", "starlette"),  # the plugins'
    *("click", "rich"),  # the command line's
    "numpy",  # loaded when routing or search first needs it
}


LATER = {
    "octoc.formats.gemini",
    "octoc.formats.render",
    "octoc.runtime.block",
    "octoc.runtime.direct",
    "octoc.runtime.explain",
    "octoc.runtime.history",
    "octoc.runtime.results.json_cut",
    "octoc.runtime.results.read",
    "octoc.runtime.results.sampled",
    "asyncio",
}
"""What the first call, long result or history loads that needs it."""


def _loaded_by(statement: str) -> frozenset[str]:
    """Return what is in `sys.modules` after the statement, in a fresh interpreter."""
    program = f"import sys\n{statement}\nimport json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return frozenset(json.loads(done.stdout))


def test_importing_the_runtime_loads_no_heavy_package() -> None:
    """A fresh process that imports `Runtime` has loaded none of the packages of compiler, CLI and plugins."""
    assert _loaded_by("from octoc.runtime import Runtime") & HEAVY == set()


def test_importing_the_runtime_loads_nothing_that_waits_for_its_use() -> None:
    """Parts of the runtime that not every process needs are not loaded with it."""
    assert _loaded_by("from octoc.runtime import Runtime") & LATER == set()


def test_a_heavy_package_would_be_seen() -> None:
    """The look into `sys.modules` sees a package that a fresh process did load."""
    assert "click" in _loaded_by("import click") & HEAVY
