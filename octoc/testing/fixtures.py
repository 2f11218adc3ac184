"""Assert fixtures in a test suite: route each message and search each query as the runtime does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from octoc.routing.fixtures import Fixtures, RoutingFixture, SearchFixture

if TYPE_CHECKING:
    from octoc.bundle.model import Bundle
    from octoc.evaluation import Results
    from octoc.evaluation.outcomes import Outcome
    from octoc.plugin import Embedder
    from octoc.plugin.manager import Plugins

Given = Fixtures | Iterable[RoutingFixture | SearchFixture] | str | Path


def assert_routes(
    bundle: str | Path,
    fixtures: Given,
    *,
    plugins: Plugins | None = None,
    embedder: Embedder | None = None,
    workspace: str | Path | None = None,
) -> Results:
    """Run fixtures against a bundle and return the results; fail with a line per wrong fixture.

    No server is started, and every variable that a capability needs counts as set. Do not call it in a running loop.

    Args:
        fixtures: values, or a file of fixtures.
        plugins, embedder: instead of those that the bundle names.
        workspace: the folder that the bundle runs in.

    Raises: AssertionError; ValueError when a file of fixtures is unsound; UnknownNameError for a capability, a tool or
    an agent that the bundle does not have; BundleFileError.
    """
    import asyncio

    from octoc.evaluation import Verdict, open_for_tests, run_fixtures

    wanted = _fixtures(fixtures, bundle)

    async def run() -> Results:
        async with open_for_tests(bundle, plugins=plugins, embedder=embedder, workspace=workspace) as runtime:
            _refuse_unknown(wanted, runtime.bundle)
            return run_fixtures(runtime, wanted)

    results = asyncio.run(run())
    failed = [outcome for outcome in results.all if outcome.verdict is not Verdict.RIGHT]
    if failed:
        head = f"{len(failed)} of {len(results.all)} fixtures are not right"
        why = f" (without an encoder: {results.no_encoder})" if results.no_encoder else ""
        raise AssertionError("\n".join([f"{head}{why}:", *map(_told, failed)]))
    return results


def _refuse_unknown(fixtures: Fixtures, bundle: Bundle) -> None:
    """Raises: UnknownNameError, for an expected capability or tool that the bundle does not have."""
    from octoc.runtime import UnknownNameError

    capabilities = {one.name for one in bundle.capabilities}
    for name in (name for message in fixtures.messages for name in message.expect):
        if name not in capabilities:
            raise UnknownNameError("capability", name, capabilities)
    tools = {f"{one.server}/{one.name}" for one in bundle.tools}
    unlisted = {one.name for one in bundle.servers if not one.listed}
    for tool in (tool for search in fixtures.searches for tool in search.tools):
        if tool not in tools and tool.partition("/")[0] not in unlisted:
            raise UnknownNameError("tool", tool, tools)


def _told(outcome: Outcome) -> str:
    from octoc.evaluation.figures import names
    from octoc.evaluation.outcomes import RECALL_AT, MessageOutcome

    if isinstance(outcome, MessageOutcome):
        fixture = outcome.fixture
        said = f"expected {names(fixture.expect)}, got {names(outcome.got)} ({outcome.reason})"
        return f"  {fixture.text!r}: {said}"
    query = outcome.fixture
    found = ", ".join(outcome.found[:RECALL_AT]) or "nothing"
    return f"  {query.query!r}: expected {names(query.tools)}, found {found}"


def _fixtures(given: Given, bundle: str | Path) -> Fixtures:
    if isinstance(given, Fixtures):
        return given
    if isinstance(given, (str, Path)):
        return _of_file(Path(given).absolute(), bundle)
    listed = list(given)
    return Fixtures(
        messages=tuple(one for one in listed if isinstance(one, RoutingFixture)),
        searches=tuple(one for one in listed if isinstance(one, SearchFixture)),
    )


def _of_file(path: Path, bundle: str | Path) -> Fixtures:
    from octoc.bundle.reader import OpenBundle
    from octoc.compiler.workspace.fixtures import known_in, load_fixtures, look_up
    from octoc.diagnostics.rule import Severity

    with OpenBundle.open(bundle) as opened:
        known = known_in(opened.bundle)
    loaded = load_fixtures(path.parent, [path])
    found = look_up(loaded, known)
    wrong = [one for one in loaded.diagnostics if one.severity >= Severity.ERROR]
    if wrong:
        lines = [f"{one.span.file}:{one.span.line}: {one.message}" if one.span else one.message for one in wrong]
        raise ValueError("\n".join(lines))
    return found
