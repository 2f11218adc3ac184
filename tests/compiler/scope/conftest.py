"""Workspaces with scopes, written by a few words and compiled up to the scope stage."""

from collections.abc import Callable, Iterable
from pathlib import Path

import attrs
import pytest

from octoc.compiler.cache.store import Cache
from octoc.compiler.model.build import Build
from octoc.compiler.pipeline import run_to_scope
from octoc.compiler.workspace.load import load_workspace
from octoc.diagnostics.model import Diagnostic
from octoc.plugin.manager import Plugins
from octoc.testing import WorkspaceBuilder

SERVERS = {"ledger": ["read", "pay", "pay_all"], "docs": ["search", "get"], "mail": ["send", "list"]}
AGENTS = ("cfo", "finance-clerk", "recruiter", "auditor")


@attrs.frozen
class Company:
    """What a workspace came to."""

    build: Build
    diagnostics: tuple[Diagnostic, ...]

    def tools(self, agent: str) -> set[str]:
        """Return an agent's recorded tools."""
        return {str(self.build.scoped.tools[index].id) for index in self.build.scoped.registries[agent].tools}

    def unlisted(self, agent: str) -> set[str]:
        """Return what an agent has of unlisted servers."""
        registry = self.build.scoped.registries[agent]
        grants = (*registry.unlisted, *registry.unlisted_direct)
        return {f"{grant.server}/{glob}" for grant in grants for glob in grant.globs}

    def capabilities(self, agent: str) -> set[str]:
        """Return the capabilities that an agent has, now or when they are activated."""
        registry = self.build.scoped.registries[agent]
        return {*registry.capabilities, *registry.boot}

    def found(self, code: str) -> list[Diagnostic]:
        """Return the findings of one rule."""
        return [one for one in self.diagnostics if one.rule.code == code]

    @property
    def errors(self) -> list[str]:
        """The codes of all errors."""
        return [one.rule.code for one in self.diagnostics if one.severity.name == "ERROR"]


Compile = Callable[..., Company]


@pytest.fixture
def company(tmp_path: Path) -> Compile:
    """A function from tables of scopes to a company of four agents: three listed servers, `raw` unlisted.

    Capabilities are `books` (all of `ledger`), `sql` (a server of its own) and `both` (`docs:search`, `ledger:read`).
    """

    def compiled(
        scopes: str = "",
        *,
        profile: str | None = "deny",
        files: Iterable[tuple[str, str]] = (),
        settings: Callable[[WorkspaceBuilder], object] = lambda _: None,
        agents: Iterable[str] = AGENTS,
    ) -> Company:
        builder = WorkspaceBuilder(tmp_path)
        if profile is not None:
            builder.settings("scopes", profile=profile)
        for server, tools in SERVERS.items():
            builder.server(server, f"{server}-mcp").snapshot(server, tools)
        builder.server("raw", "raw-mcp")
        builder.capability("books", ["what is in the books"], server="ledger")
        builder.capability(
            "sql", ["query the database"], server={"name": "sql-server", "type": "stdio", "command": "q"}
        )
        builder.snapshot("sql-server", ["query"])
        for agent in agents:
            builder.agent(agent)
        if scopes:
            builder.file("scopes/company.toml", scopes)
        for path, text in files:
            builder.file(path, text)
        settings(builder)
        root = builder.write()
        loaded = load_workspace(root, cache=Cache(None), plugins=Plugins())
        assert loaded.settings is not None
        build = run_to_scope(loaded.settings, loaded.context)
        return Company(build, loaded.context.sink.diagnostics)

    return compiled
