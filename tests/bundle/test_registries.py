"""Registries in a file: they come back as they were, are put together when they are used, and share what they share."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.layout import INDEX, BundleMember, frame
from octoc.bundle.model import AgentEntry, Bundle, Grant, Registry, ServerEntry, Settings, Slice, ToolEntry
from octoc.bundle.organisation import AreaEntry, Quota, TenantEntry
from octoc.bundle.reader import OpenBundle
from octoc.bundle.refusal import BundleFileError
from octoc.bundle.registries import StoredRegistry, numbers_of, runs_of
from octoc.bundle.writer import write_bundle

COUNT = 12
_NUMBERS = st.sets(st.integers(0, COUNT - 1)).map(sorted).map(tuple)
_NAMES = st.sets(st.sampled_from("abcdef")).map(sorted).map(tuple)
_LOOSE_NAMES = _NAMES | st.lists(st.sampled_from("abcdef"), max_size=4).map(tuple)
_GRANT = st.builds(Grant, server=st.sampled_from("xyz"), globs=_NAMES, tools=_NUMBERS)
_GRANTS = st.lists(_GRANT, max_size=3).map(tuple)
_REGISTRY = st.builds(
    Registry,
    tools=_NUMBERS | st.lists(st.integers(0, COUNT - 1), max_size=4).map(tuple),
    direct=_NUMBERS,
    proxy=st.booleans(),
    unlisted=_GRANTS,
    unlisted_direct=_GRANTS,
    capabilities=_LOOSE_NAMES,
    boot=_LOOSE_NAMES,
    skills=_NAMES,
    confined=st.booleans(),
)


def _bundle(*registries: Registry, tools: int = COUNT) -> Bundle:
    return Bundle(
        name="fleet",
        octoc_version="0",
        settings=Settings(),
        servers=tuple(ServerEntry(name=name, transport="stdio") for name in "yx"),
        tools=tuple(
            ToolEntry(server="y", name=f"t{number}", alias=f"y__t{number}", description="", wire=Slice(0, 2))
            for number in range(tools)
        ),
        agents=tuple(
            AgentEntry(name=f"a{number}", kind="octo", registry=registry) for number, registry in enumerate(registries)
        ),
    )


def _written(bundle: Bundle) -> bytes:
    return write_bundle(bundle, blobs={"tools": b"{}", "texts": b""})


@given(st.lists(_REGISTRY, max_size=5))
def test_registries_come_back_as_they_were(registries: list[Registry]) -> None:
    """Whatever the lists of an agent, in whatever order: the bundle that is read has them."""
    found = OpenBundle.of_bytes(_written(_bundle(*registries))).bundle.agents
    assert [agent.registry for agent in found] == registries
    assert [attrs.evolve(agent.registry, proxy=True).tools for agent in found] == [one.tools for one in registries]


@given(st.lists(_REGISTRY, max_size=5))
def test_what_was_read_is_written_as_the_same_bytes(registries: list[Registry]) -> None:
    """Writing the agents of an open bundle again gives the file that it came from."""
    data = _written(_bundle(*registries))
    found = OpenBundle.of_bytes(data).bundle.agents
    assert _written(_bundle(*(agent.registry for agent in found))) == data


@given(_NUMBERS)
def test_runs_are_the_numbers(numbers: tuple[int, ...]) -> None:
    """Ascending numbers written as runs are the same numbers, and no two runs could be one."""
    runs = runs_of(numbers)
    assert tuple(numbers_of(runs)) == numbers
    assert all(skip > 0 for skip in runs[2::2])


def test_opening_puts_no_list_together() -> None:
    """A list of a registry is made when it is asked for, and once."""
    opened = OpenBundle.of_bytes(_written(_bundle(Registry(tools=tuple(range(COUNT)), direct=(3,)))))
    registry = opened.bundle.agents[0].registry
    assert isinstance(registry, StoredRegistry)
    assert registry.is_made("tools")
    with pytest.raises(AttributeError):
        object.__getattribute__(registry, "tools")
    assert registry.tools is registry.tools
    assert registry.tools == tuple(range(COUNT))


def _size(agents: int, groups: int, per_group: int) -> int:
    """Return how large the agents and sets are where each agent has three groups and every tool is in one."""
    of_group = [tuple(range(number * per_group, (number + 1) * per_group)) for number in range(groups)]
    registries = [
        Registry(tools=tuple(sorted({tool for step in (1, 3, 7) for tool in of_group[(number * step) % groups]})))
        for number in range(agents)
    ]
    with zipfile.ZipFile(io.BytesIO(_written(_bundle(*registries, tools=groups * per_group)))) as archive:
        return len(archive.read("agents.json")) + len(canonical_json(json.loads(archive.read(INDEX))["tool_sets"]))


def test_a_file_grows_with_tools_and_with_grants_and_not_with_their_product() -> None:
    """Ten times the tools in the same groups add next to nothing; twice the agents add what they are granted."""
    small = _size(agents=40, groups=10, per_group=10)
    assert _size(agents=40, groups=10, per_group=100) < small * 1.2
    assert _size(agents=80, groups=10, per_group=10) < small * 2.1


def _altered(change: Any) -> bytes:
    """Return a sound bundle after `change` of (index, agents), its digests and framing made to fit."""
    data = _written(_bundle(Registry(tools=(0, 1, 5)), Registry(tools=(1, 2))))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    index, agents = json.loads(members.pop(INDEX)), json.loads(members["agents.json"])
    change(index, agents)
    members["agents.json"] = canonical_json(agents)
    index["members"] = {
        name: {"size": len(one), "crc32": zlib.crc32(one), "sha256": sha256_hex(one)} for name, one in members.items()
    }
    members[INDEX] = canonical_json(index)
    plan = frame([BundleMember(name, len(one), zlib.crc32(one)) for name, one in members.items()])
    out = bytearray(plan.size)
    for offset, piece in plan.pieces:
        out[offset : offset + len(piece)] = piece
    for name, start in plan.starts.items():
        out[start : start + len(members[name])] = members[name]
    return bytes(out)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda index, _: index.update(tool_sets=[[0, 10**12]]), id="a tool that is not there"),
        pytest.param(lambda index, _: index.update(tool_sets=[[0, COUNT]] * 3), id="sets that overlap"),
        pytest.param(lambda index, _: index.update(tool_sets=[[-1, 2]]), id="a skip backwards"),
        pytest.param(lambda index, _: index.update(tool_sets=[[0, 0]]), id="a run of nothing"),
        pytest.param(lambda index, _: index.update(tool_sets=[[3]]), id="half a run"),
        pytest.param(lambda index, _: index.update(tool_sets=[]), id="no sets at all"),
        pytest.param(lambda _, agents: agents[0]["registry"]["sets"].update(tools=[0, 10**9]), id="a set not there"),
        pytest.param(lambda _, agents: agents[0]["registry"]["sets"].update(tools=[[0, 1]]), id="a list for a number"),
        pytest.param(lambda _, agents: agents[0]["registry"].update(sets=7), id="no object of sets"),
        pytest.param(lambda _, agents: agents[0].update(registry=[]), id="no object of a registry"),
    ],
)
def test_sets_that_make_no_registry_are_refused_when_the_bundle_is_read(change: Any) -> None:
    """A file whose digests are right and whose sets are not is refused before any list of it is put together."""
    opened = OpenBundle.of_bytes(_altered(change), verify="lazy")
    with pytest.raises(BundleFileError) as caught:
        opened.bundle  # noqa: B018
    assert caught.value.rule.code == "OCT606"


V2 = Path(__file__).resolve().parents[1] / "bundles" / "v2" / "scoped.octoc"
SCOPED = attrs.evolve(
    _bundle(
        Registry(tools=(0, 1, 2, 7), direct=(1,), proxy=True, capabilities=("a", "c"), confined=True),
        Registry(tools=(1, 2, 8, 9), unlisted=(Grant(server="x", globs=("*",)),), capabilities=("c",), skills=("s",)),
    ),
    tenants=(TenantEntry(name="acme", quota=Quota(calls=10)),),
    areas=(AreaEntry(name="finance", tenant="acme", default_agent="a0"),),
)


def test_the_second_format_loads_for_ever() -> None:
    """The committed bundle of format 2 opens with the registries, tenants and quotas that it was made of.

    It was written with `V2.write_bytes(_written(SCOPED))`; a format that writes other bytes still reads these.
    """
    with OpenBundle.open(V2, verify="full") as opened:
        assert opened.bundle.agents == SCOPED.agents
        assert (opened.bundle.tenants, opened.bundle.areas) == (SCOPED.tenants, SCOPED.areas)


def test_the_first_format_is_read_with_its_lists_in_full() -> None:
    """A registry as the first format has it, numbers in a list, is that registry."""

    def plain(index: Any, agents: Any) -> None:
        index["format"] = {"name": "octoc-bundle", "version": 1, "revision": 2}
        del index["tool_sets"]
        agents[0]["registry"], agents[1]["registry"] = {"tools": [0, 1, 5]}, {"tools": [1, 2]}

    found = OpenBundle.of_bytes(_altered(plain)).bundle.agents
    assert [agent.registry for agent in found] == [Registry(tools=(0, 1, 5)), Registry(tools=(1, 2))]
