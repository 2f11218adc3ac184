"""What `import octoc.runtime` loads, seen in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

from octoc.bundle.model import AgentEntry, Bundle, Settings
from octoc.bundle.writer import write_bundle

HEAVY = {
    *("tomlkit", "jsonschema", "jinja2", "sklearn", "yaml", "tree_sitter", "cattrs"),  # the compiler's
    *("onnxruntime", "tokenizers", "httpx2", "mcp", "pydantic", "starlette"),  # the plugins'
    *("click", "rich"),  # the command line's
    "numpy",  # loaded when routing or search first needs it
}


OF_A_BUNDLE = {"octoc.bundle.model", "octoc.bundle.reader", "hashlib"}
"""What opening a bundle loads."""
LATER = {
    *("octoc.results", "octoc.secrets", "octoc.plugin", "pluggy", "importlib.metadata"),  # a call, or a question
    *("octoc.runtime.results.fit", "octoc.runtime.results.failures", "octoc.runtime.history"),
    *("octoc.runtime.servers.builtin", "octoc.runtime.servers.drift", "octoc.runtime.telemetry"),
    *("octoc.runtime.activation.activate", "octoc.runtime.activation.message", "octoc.runtime.skills.text"),
    *("octoc.runtime.tools.dispatch", "octoc.runtime.tools.direct", "octoc.runtime.catalog.tool_block"),
    *("octoc.formats.gemini", "octoc.formats.render", "octoc.search.index", "octoc.routing.router"),
    *("zipfile", "asyncio", "ssl"),
}
"""What the first call, message, search, tool block or history loads that needs it."""


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
    """Parts of the runtime that not every process needs are not loaded with it, nor is a bundle's model."""
    assert _loaded_by("from octoc.runtime import Runtime") & (LATER | OF_A_BUNDLE) == set()


def test_opening_a_bundle_loads_nothing_that_waits_for_its_use(tmp_path: Path) -> None:
    """An open bundle and a session of it load the bundle's model, and neither plugins nor what calls need."""
    file = tmp_path / "small.octoc"
    agent = AgentEntry(name="a", kind="octo")
    bundle = Bundle(name="small", octoc_version="0", settings=Settings(), agents=(agent,))
    file.write_bytes(write_bundle(bundle, blobs={"tools": b"", "texts": b""}))
    loaded = _loaded_by(f"from octoc.runtime import Runtime\nRuntime.open({str(file)!r}).session('a')")
    assert loaded & (LATER | HEAVY) == set()
    assert loaded > OF_A_BUNDLE


def test_a_heavy_package_would_be_seen() -> None:
    """The look into `sys.modules` sees a package that a fresh process did load."""
    assert "click" in _loaded_by("import click") & HEAVY
