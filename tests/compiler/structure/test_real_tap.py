"""A real tap, whole: every entity becomes a source, and sound files are not complained of."""

from pathlib import Path
from typing import Any, cast

import pytest

from octoc.compiler.check.stage import check
from octoc.compiler.context import Context
from octoc.compiler.discover.stage import discover
from octoc.compiler.model.build import Build
from octoc.compiler.model.settings import TapRef, WorkspaceSettings
from octoc.compiler.model.source import Sources
from octoc.compiler.read.stage import read
from octoc.compiler.structure.stage import structure
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules import all_rules
from octoc.plugin.manager import plugins_of

OF_CHECK = {code for code in all_rules() if code.startswith("OCT2")}


@pytest.fixture(scope="module")
def built(realworld: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Sources, list[str]]:
    """The sources of the real tap, and the messages of check."""
    root = tmp_path_factory.mktemp("workspace")
    sink = DiagnosticSink()
    # No stage up to structure uses the cache or a plugin.
    context = Context(root=root, sink=sink, cache=cast("Any", None), plugins=plugins_of())
    place = Place(file="octoc.toml")
    tap = TapRef(name="octomind", path=str(realworld / "octomind-tap"), place=place)
    settings = WorkspaceSettings(name="real", place=place, taps=(tap,))
    build = Build(settings=settings)
    for stage in (discover, read, check, structure):
        build = stage(build, context)
    messages = [found.message for found in sink.diagnostics if found.rule.code in OF_CHECK]
    return build.sources, messages


def test_a_sound_tap_has_no_complaint(built: tuple[Sources, list[str]]) -> None:
    """Check finds nothing in a tap that its own lint passes."""
    assert built[1] == []


def test_everything_becomes_a_source(built: tuple[Sources, list[str]]) -> None:
    """The tap's 72 capabilities, 137 agents and 101 skills are all there, with all that they hold."""
    sources = built[0]
    capabilities = sources.capabilities
    assert (len(capabilities), len(sources.agents), len(sources.skills)) == (72, 137, 101)
    assert sum(len(capability.config.triggers) for capability in capabilities if capability.config) == 541
    assert sum(capability.config is None for capability in capabilities) == 14
    assert sum(len(capability.providers) for capability in capabilities) == 93
    assert all(capability.default is not None for capability in capabilities)
    providers = [provider for capability in capabilities for provider in capability.providers.values()]
    assert sum(len(provider.servers) for provider in providers) == 85
    assert all(provider.title and provider.description for provider in providers)


def test_agents_and_skills_say_what_their_files_say(built: tuple[Sources, list[str]]) -> None:
    """Every agent has a prompt, a title, sampling and `core`; every skill that names domains names them one by one."""
    sources = built[0]
    for agent in sources.agents:
        assert agent.prompt
        assert agent.title
        assert set(agent.sampling) == {"temperature", "top_p", "top_k"}
        assert "core" in {capability.value for capability in agent.capabilities}
    assert sum(bool(skill.domains) for skill in sources.skills) == 99
    assert sum(bool(skill.capabilities) for skill in sources.skills) == 22
    assert sum(len(skill.rules) for skill in sources.skills) == 846
