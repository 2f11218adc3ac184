"""The release workflow publishes every distribution of the tree, and its page names what the owner claims."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
JOBS: dict[str, Any] = WORKFLOW["jobs"]
NAMES = ["octoc", *sorted(path.parent.name for path in ROOT.glob("plugins/*/pyproject.toml"))]


def test_every_distribution_is_published() -> None:
    """The workflow has one job for each distribution of the tree, in an environment of the same name."""
    publish = JOBS["publish"]
    assert publish["strategy"]["matrix"]["distribution"] == NAMES
    assert publish["environment"]["name"] == "${{ matrix.distribution }}"
    assert publish["needs"] == "build"


def test_a_release_is_built_as_ci_builds() -> None:
    """The workflow, like `.ci/run`, builds by `.ci/distributions`, with the group that has its tools."""
    commands = [step["run"] for step in JOBS["build"]["steps"] if "run" in step]
    assert commands[-2:] == ["python -m pip install --group release", ".ci/distributions dist"]
    assert ".ci/distributions " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert {re.split(r"[<>=]", one)[0] for one in groups["release"]} == {"build", "hatchling", "twine"}


def test_the_workflow_has_few_rights() -> None:
    """Only the upload may ask for an identity, nothing reads a secret, and each action is of one commit."""
    assert WORKFLOW["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "build": {"contents": "read"},
        "publish": {"id-token": "write"},
    }
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    actions = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    assert len(actions) == 5
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in actions)


def test_the_page_names_what_to_claim() -> None:
    """The table of the page on releases has every distribution, and no other."""
    page = (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(octoc[\w-]*)` \|", page, re.MULTILINE) == NAMES
