"""The pipeline: each stage fills one slot of the build."""

from pathlib import Path

import pytest

from octoc.compiler.cache.store import Cache
from octoc.compiler.model.build import Build
from octoc.compiler.pipeline import run_to_resolve
from octoc.compiler.workspace.load import load_workspace
from octoc.plugin.manager import Plugins


def test_a_stage_fills_its_slot_and_leaves_the_later_ones(tmp_path: Path) -> None:
    """After resolve the slots up to `resolved` have values, and a later slot names the stage that did not run."""
    (tmp_path / "octoc.toml").write_text('[workspace]\nname = "acme"\n')
    loaded = load_workspace(tmp_path, cache=Cache(None), plugins=Plugins())
    assert loaded.settings is not None
    build = run_to_resolve(loaded.settings, loaded.context)
    assert [agent.name for agent in build.resolved.agents] == ["supervisor"]
    assert build.documents.digests == build.checked.digests
    with pytest.raises(AttributeError, match="`tools`"):
        _ = build.scoped.tools
    assert Build(settings=loaded.settings).calibrated.gate is None
