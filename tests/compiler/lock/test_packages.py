"""Versions of packages that the lock decides, and which argument of a command takes them."""

from pathlib import Path

import attrs
import pytest

from octoc.compiler.lock.registries import RegistryError, newest
from octoc.compiler.lock.upgrade import lockable, write_versions
from octoc.compiler.model.resolved import PackageVersion, Server
from octoc.compiler.pin.packages import package_of
from octoc.compiler.workspace.build import build, resolve_workspace
from octoc.diagnostics.rule import Severity
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

LOCKED = {
    "uvx time-mcp": "uvx time-mcp@2.0",
    "uvx time-mcp --zone UTC": "uvx time-mcp@2.0 --zone UTC",
    "uvx time-mcp@latest": "uvx time-mcp@2.0",
    "uvx --from time-mcp>=1,<3 time": "uvx --from time-mcp==2.0 time",
    "uvx --from=time-mcp[cli] time": "uvx --from=time-mcp[cli]==2.0 time",
    "uvx --with extra time-mcp": "uvx --with extra time-mcp@2.0",
    "uv tool run --from time-mcp time-mcp": "uv tool run --from time-mcp==2.0 time-mcp",
    "pipx run --spec time-mcp time": "pipx run --spec time-mcp==2.0 time",
    "npx -y @acme/time": "npx -y @acme/time@2.0.0",
    "npx -y @acme/time@^1 --port 3": "npx -y @acme/time@2.0.0 --port 3",
    "npx --package=@acme/time time": "npx --package=@acme/time@2.0.0 time",
    "cmd /c npx -y time": "cmd /c npx -y time@2.0.0",
    "bunx time@latest": "bunx time@2.0.0",
}
NOT_LOCKED = (
    "uvx time-mcp==1.0", "npx time@1.2.3", "sh -c uvx", "docker run -i acme/time", "uvx time-mcp[cli]", "time-mcp",
    "uvx git+https://example.com/a",
)  # fmt: skip


@pytest.fixture
def builder(tmp_path: Path) -> WorkspaceBuilder:
    """An empty workspace."""
    return WorkspaceBuilder(tmp_path)


def _resolved(builder: WorkspaceBuilder) -> tuple[Server, ...]:
    found, _, _ = resolve_workspace(builder.write(), use_cache=False)
    assert found is not None
    return found.resolved.servers


def test_the_locked_version_becomes_the_argument(builder: WorkspaceBuilder) -> None:
    """Each form of a command that names a package without an exact version takes the lock's; no other is changed."""
    lines = {f"s{number}": line.split() for number, line in enumerate([*LOCKED, *NOT_LOCKED])}
    for name, words in lines.items():
        builder.server(name, words[0], *words[1:])
    build(builder.write(), plugins=plugins_of())
    before = _resolved(builder)
    assert {one.name: [one.command, *one.args] for one in before} == lines
    versions = {"npm": "2.0.0", "pypi": "2.0"}
    locked = {
        one.name: attrs.evolve(known, version=known.version or versions[package.registry], hashes=("sha256:0",))
        for one in lockable(before)
        if (known := one.package_version) is not None
        and (package := package_of(one.command or "", one.args)) is not None
    }
    assert write_versions(builder.root, locked)
    assert {one.name: " ".join([one.command or "", *one.args]) for one in _resolved(builder)} == {
        name: LOCKED.get(" ".join(words), " ".join(words)) for name, words in lines.items()
    }
    build(builder.root, plugins=plugins_of())
    assert build(builder.root, plugins=plugins_of(), locked=True).worst != Severity.ERROR


def test_a_command_in_other_words_has_no_locked_version(builder: WorkspaceBuilder) -> None:
    """The lock's version belongs to the words that it was chosen for."""
    builder.server("time", "uvx", "time-mcp")
    build(builder.write(), plugins=plugins_of())
    assert write_versions(builder.root, {"time": PackageVersion("time-mcp", "time-mcp", "2.0", ("sha256:0",))})
    builder.server("time", "uvx", "--from", "time-mcp>=3", "time")
    (server,) = _resolved(builder)
    assert server.package_version == PackageVersion("time-mcp", "time-mcp>=3")
    assert server.args == ("--from", "time-mcp>=3", "time")


def test_a_client_that_is_not_there_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without `npm` or `uv` the reason names the program."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for registry, program in (("npm", "npm"), ("pypi", "uv")):
        with pytest.raises(RegistryError, match=f"`{program}`, which asks the registry, is not installed"):
            newest(registry, "time", "", (), tmp_path)
