"""Files about one server or about skills: validated, and no server of a workspace."""

import json
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.plugin.manager import Plugins

NAMELESS = "expected a namespace such as `io.github.acme`, one slash and a name"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
PACKAGE = {"registryType": "npm", "identifier": "a", "version": "1.0.0", "transport": {"type": "stdio"}}
SERVER = {"$schema": SCHEMA, "name": "io.github.a/b", "description": "x", "version": "1.0.0", "packages": [PACKAGE]}
LOCK = {"version": 1, "skills": {"a": {"source": "b/c", "sourceType": "github", "computedHash": "0" * 64}}}


def found(root: Path, name: str, values: Any) -> list[tuple[str, str, str]]:
    """Return (code, severity, message) of each finding in a folder with one file."""
    (root / name).write_text(json.dumps(values, indent=1), encoding="utf-8")
    outcome = check_target(CheckTarget(root=root, folder=root), plugins=Plugins(), use_cache=False)
    assert outcome.read == {root / name}
    return [(one.rule.code, one.severity.name.lower(), one.message) for one in outcome.diagnostics]


@pytest.mark.parametrize(
    "name, values",
    [
        ("server.json", SERVER),
        ("server.json", {**SERVER, "packages": [], "remotes": [{"type": "sse", "url": "https://{tenant}.example/x"}]}),
        ("skills-lock.json", {"version": 1, "skills": {}}),
        (
            "skills-lock.json",
            {"version": 1, "skills": {"a": {"source": "b/c", "sourceType": "x", "computedHash": "0" * 64}}},
        ),
        ("fastmcp.json", {"source": {"path": "fastmcp.json"}, "environment": {"python": "3.12"}, "ours": 1}),
        ("a.fastmcp.json", {"source": {"path": "a.fastmcp.json:app"}, "deployment": {"port": 80}}),
    ],
)
def test_a_sound_file_has_no_finding(name: str, values: Any, tmp_path: Path) -> None:
    """A folder with only such a file is not empty, and no rule for servers speaks."""
    assert found(tmp_path, name, values) == []


def changed(**changes: Any) -> dict[str, Any]:
    """Return an entry of the registry whose package is changed."""
    return {**SERVER, "packages": [{**PACKAGE, **changes}]}


@pytest.mark.parametrize(
    "name, values, message",
    [
        (
            "server.json",
            {**SERVER, "description": "x" * 101},
            "`description` has 101 characters, and the registry takes 1 to 100",
        ),
        ("server.json", {**SERVER, "version": "latest"}, "`latest` is not one version, and the registry refuses it"),
        ("server.json", changed(version="1.x"), "`1.x` is not one version, and the registry refuses it"),
        ("server.json", changed(version=">=1.0"), "`>=1.0` is not one version, and the registry refuses it"),
        ("server.json", changed(version="1.0 - 2.0"), "`1.0 - 2.0` is not one version, and the registry refuses it"),
        ("server.json", changed(transport={"type": "sse"}), "`sse` needs a `url`"),
        (
            "server.json",
            changed(environmentVariables=[{"name": "KEY", "isRequired": "true"}]),
            "expected true or false for `packages[0].environmentVariables[0].isRequired`, found a string",
        ),
        (
            "server.json",
            changed(packageArguments=[{"type": "named", "name": "--port", "default": 8080}]),
            "expected a string for `packages[0].packageArguments[0].default`, found a whole number",
        ),
        (
            "server.json",
            changed(registryType="pypi", identifier="@acme/weather"),
            "`@acme/weather` is a name of npm, and no package of pypi can have it",
        ),
        ("server.json", {**SERVER, "name": "weather"}, f"`weather` is not a valid name: {NAMELESS}"),
        ("fastmcp.json", {"entrypoint": {"file": "server.py", "object": "app"}}, "the file has no `source`"),
        (
            "fastmcp.json",
            {"source": {"path": "gone.py"}},
            "`gone.py` does not exist, and FastMCP loads the server from it",
        ),
    ],
)
def test_what_its_reader_refuses_is_an_error(name: str, values: Any, message: str, tmp_path: Path) -> None:
    """Each mistake is one error."""
    ((_, severity, text),) = found(tmp_path, name, values)
    assert (severity, text) == ("error", message)


@pytest.mark.parametrize(
    "name, values, message",
    [
        (
            "server.json",
            changed(registryType="mcpb"),
            "a package of type `mcpb` needs `fileSha256`, 64 lower-case hexadecimal digits",
        ),
        ("server.json", changed(runtimeHint="uvx"), "`uvx` runs packages of pypi, and `a` is one of npm"),
        (
            "fastmcp.json",
            {"source": {"path": "fastmcp.json"}, "environment": {"python": 3.12}},
            "expected a string for `environment.python`, found a number",
        ),
    ],
)
def test_what_a_release_or_its_reader_may_change_is_a_warning(
    name: str, values: Any, message: str, tmp_path: Path
) -> None:
    """A digest may be written by a release, and a reader may take a value of another type."""
    ((_, severity, text),) = found(tmp_path, name, values)
    assert (severity, text) == ("warning", message)


@pytest.mark.parametrize("version", ["1.0.0", "1.0.0-rc.1", "v2", "2026.11.22", "1.0.0-x", "0.1-beta"])
def test_one_version_is_sound(version: str, tmp_path: Path) -> None:
    """A version need not be semantic."""
    assert found(tmp_path, "server.json", {**SERVER, "version": version}) == []


def test_an_older_schema_is_one_warning(tmp_path: Path) -> None:
    """A file that names a schema which the registry no longer takes has one finding."""
    package = {"registry_type": "npm", "identifier": "a", "version": "1.0.0"}
    values = {**SERVER, "$schema": SCHEMA.replace("2025-12-11", "2025-07-09"), "packages": [package]}
    message = "the registry does not take the schema of 2025-07-09: its keys changed on 2025-09-16"
    assert found(tmp_path, "server.json", values) == [("OCT739", "warning", message)]


def test_keys_of_an_older_schema_are_one_error(tmp_path: Path) -> None:
    """All old keys of a file that names the current schema are one finding."""
    package = {"registry_type": "npm", "runtime_hint": "npx", "identifier": "a", "version": "1.0.0"}
    message = "the registry does not read `registry_type`, `runtime_hint`: they are keys of an older schema"
    assert found(tmp_path, "server.json", {**SERVER, "packages": [package, package]}) == [("OCT739", "error", message)]


def test_keys_and_description_are_reported_together(tmp_path: Path) -> None:
    """A description that is too long is reported in the same check as keys of an older schema."""
    package = {"registry_type": "npm", "identifier": "a", "version": "1.0.0"}
    server = {**SERVER, "description": "a" * 101, "packages": [package]}
    assert len(found(tmp_path, "server.json", server)) == 2


def test_a_template_has_no_finding(tmp_path: Path) -> None:
    """A program fills in such a file before it is published."""
    assert found(tmp_path, "server.json", {**SERVER, "name": "<<Name>>", "version": "<<Version>>"}) == []


@pytest.mark.parametrize("values", [{"host": "a", "port": 1}, {"mcpServers": {}}, {"name": "a", "version": "1"}, []])
def test_another_program_s_server_json_is_not_read(values: Any, tmp_path: Path) -> None:
    """The name alone says nothing."""
    (tmp_path / "server.json").write_text(json.dumps(values), encoding="utf-8")
    outcome = check_target(CheckTarget(root=tmp_path, folder=tmp_path), plugins=Plugins(), use_cache=False)
    assert (outcome.read, outcome.diagnostics, outcome.worst) == (frozenset(), (), None)
