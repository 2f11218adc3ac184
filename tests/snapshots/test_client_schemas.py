"""The schemas of clients' files: made from the dialects, valid, and met by what octoc's check passes."""

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from octoc.compiler.check.schemas import schema_of
from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.inputs.mcp.client_schema import client_schema
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.registry import DIALECTS, FileKinds
from octoc.compiler.read.json import relax
from octoc.data import schemas_dir
from octoc.diagnostics.rule import Severity
from octoc.plugin.file_kinds import Dialect
from octoc.plugin.manager import Plugins

CLIENTS = [one for one in DIALECTS if one.kind == MCP.name]


def read_json(text: str) -> Any:
    """Return the values of JSON with comments."""
    return json.loads(relax(text).text)


READERS: Mapping[str, Callable[[str], Any]] = {"toml": tomllib.loads, "yaml": yaml.safe_load}


def test_the_files_are_made_from_the_dialects() -> None:
    """`schemas/clients/` has the schema of each dialect and nothing else; `make snapshots` writes the files."""
    folder = schemas_dir() / "clients"
    texts = {
        f"{one.name}.v1.json": json.dumps(client_schema(one, schema_of(MCP)), indent=2, ensure_ascii=False) + "\n"
        for one in CLIENTS
    }
    if os.environ.get("OCTOC_WRITE_SNAPSHOTS"):
        for stale in {path.name for path in folder.iterdir()} - texts.keys():
            (folder / stale).unlink()
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == texts, "run `make snapshots`"


@pytest.mark.parametrize("dialect", CLIENTS, ids=lambda one: one.name)
def test_a_client_s_schema_is_valid(dialect: Dialect) -> None:
    """It meets the meta-schema, describes each key, and refuses a number in place of servers; its examples meet it."""
    schema = client_schema(dialect, schema_of(MCP))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    keys = schema["$defs"]["server"]["properties"]
    assert [key for key, node in keys.items() if not node.get("description", "").endswith(".")] == []
    first, *path = dialect.server_list.split("/")
    node = schema["properties"][first]
    for key in path:
        node = node["properties"][key]
    for example in node.get("examples", ()):
        assert list(validator.evolve(schema={**schema, **node, "properties": {}}).iter_errors(example)) == []
    value: Any = 1
    for key in reversed([first, *path]):
        value = {key: value}
    assert not validator.is_valid(value)


def files_of_clients(corpus: Path) -> Iterator[tuple[Path, Dialect]]:
    """Yield every file of servers below a folder, with its dialect."""
    kinds = FileKinds()
    for path in sorted(corpus.rglob("*")):
        for form in kinds.forms_of(PurePath(path)) if path.is_file() and path.stat().st_size else ():
            if form.kind is MCP:
                yield path, form.dialect


@pytest.mark.skipif("OCTOC_CORPUS" not in os.environ, reason="OCTOC_CORPUS names no folder of repositories")
def test_what_a_check_passes_meets_the_schema() -> None:
    """A real file in which octoc finds no error meets the schema of its dialect."""
    refused = []
    count = 0
    for path, dialect in files_of_clients(Path(os.environ["OCTOC_CORPUS"])):
        target = CheckTarget(root=path.parent, file=path, kind=f"mcp:{dialect.name}")
        found = check_target(target, plugins=Plugins(), use_cache=False).diagnostics
        if any(one.severity is Severity.ERROR for one in found):
            continue
        text = path.read_text(encoding="utf-8-sig")
        values = READERS.get(str(dialect.syntax), read_json)(text)
        errors = Draft202012Validator(client_schema(dialect, schema_of(MCP))).iter_errors(values)
        refused += [f"{path}: {error.json_path}: {error.message[:80]}" for error in errors]
        count += 1
    assert count
    assert refused == []
