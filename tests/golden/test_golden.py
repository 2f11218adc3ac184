"""What the stages up to `describe` make of small workspaces: `<stage>/<case>/in` is the workspace of each snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from octoc.bundle.model import Grant, Registry
from octoc.compiler.cache.store import Cache
from octoc.compiler.context import Context
from octoc.compiler.discover.stage import discover
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Server
from octoc.compiler.pipeline import run_checks
from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.text import text_reader
from octoc.compiler.structure.settings import load_settings
from octoc.diagnostics.model import Diagnostic, DiagnosticSink
from octoc.plugin.manager import plugins_of

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/in"))


def test_workspaces_compile_to_what_is_recorded(snapshots: Callable[[str, Mapping[str, str]], None]) -> None:
    """Diagnostics, servers, capabilities, registries and prompts of each small workspace are as recorded."""
    texts = {}
    for case in CASES:
        checked, diagnostics = compiled(case / "in")
        name = f"{case.parent.name}-{case.name}.txt"
        texts[name] = "\n".join([*told(diagnostics), *summary(checked)]) + "\n"
    snapshots("stages", texts)


def compiled(root: Path) -> tuple[Build, tuple[Diagnostic, ...]]:
    """Run every stage that needs no encoder."""
    sink = DiagnosticSink(SpanIndex(text_reader(root)))
    settings = load_settings(root, sink)
    assert settings is not None
    context = Context(root=root, sink=sink, cache=Cache(None), plugins=plugins_of())
    return run_checks(discover(Build(settings=settings), context), context), sink.diagnostics


def told(diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
    """Yield each diagnostic but lint's with every place and hint."""
    yield "# diagnostics"
    for found in diagnostics:
        if found.rule.code.startswith("OCT4"):
            continue  # lint's rules have tests of their own; these workspaces show what the stages before it make
        span = found.span
        place = f"{span.file}:{span.line}:{span.column}-{span.end_line}:{span.end_column}" if span else "-"
        yield f"{found.severity.label} {found.rule.code} {found.rule.name}: {found.message}"
        yield f"    at {place}"
        for label in found.related:
            yield f"    related {label.span.file}:{label.span.line}:{label.span.column} {label.text}"
        yield from (f"    note {note}" for note in found.notes)
        if found.help:
            yield f"    help {found.help}"


def summary(build: Build) -> Iterator[str]:
    """Yield what the bundle would hold, in the words of a person."""
    scoped = build.scoped
    yield "# servers"
    for server in build.resolved.servers:
        yield from _server(server)
    yield "# capabilities"
    for capability in build.resolved.capabilities:
        grants = "; ".join(f"{grant.server} {list(grant.globs)}" for grant in capability.grants)
        yield f"{capability.name} ({capability.tap}/{capability.provider}): {grants or 'no server'}"
        if capability.requires_env:
            yield f"    needs {', '.join(capability.requires_env)}"
    names = [tool.alias for tool in scoped.tools]
    yield "# registries"
    for agent, registry in scoped.registries.items():
        yield agent
        yield from (f"    {line}" for line in _registry(registry, names))
    for agent, prompt in build.prompts.items():
        yield f"# prompt of {agent}"
        yield prompt


def _server(server: Server) -> Iterator[str]:
    how = " ".join([server.command, *server.args]) if server.command else server.url or server.transport
    yield f"{server.name}: {how} ({server.timeout_s:g} s)"
    for what, values in (("env", server.env), ("header", server.headers)):
        yield from (f"    {what} {key}={value}" for key, value in values.items())
    tools = ", ".join(tool.name for tool in server.tools) if server.listed else "not listed"
    yield f"    tools: {tools}"


def _registry(registry: Registry, names: list[str]) -> Iterator[str]:
    deferred = [names[index] for index in registry.tools if index not in registry.direct]
    for what, values in (
        ("direct", [names[index] for index in registry.direct]),
        ("deferred, by the proxy" if registry.proxy else "once active", deferred),
        ("unlisted", _grants(registry.unlisted)),
        ("unlisted, direct", _grants(registry.unlisted_direct)),
        ("capabilities", list(registry.capabilities)),
        ("boot", list(registry.boot)),
        ("host", list(registry.host_tools)),
    ):
        if values:
            yield f"{what}: {', '.join(values)}"
    if registry == Registry():
        yield "nothing"


def _grants(grants: Iterable[Grant]) -> list[str]:
    return [f"{grant.server}:{glob}" for grant in grants for glob in grant.globs]
