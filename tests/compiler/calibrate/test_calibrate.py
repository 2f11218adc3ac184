"""Stage calibrate: vectors to the gate, with vectors that are plain functions of a text's words."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

from octoc.bundle.model import CapabilityEntry, Gate
from octoc.compiler.cache.store import Cache
from octoc.compiler.calibrate.stage import calibrate
from octoc.compiler.calibrate.texts import chat_lines, distinct_texts, examples
from octoc.compiler.context import Context
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability, Embedded, Resolved, Scoped
from octoc.compiler.model.settings import RoutingSettings, WorkspaceSettings
from octoc.compiler.model.source import Sources
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.plugin.manager import plugins_of
from octoc.routing.router import ASKING, Router, load_router

PLACE = Place(file="octoc.toml")
TRIGGERS = {
    "docker": ("list docker containers", "stop a docker container", "pull a docker image", "docker container logs"),
    "git": ("show the git log", "commit with git", "which git branch is this", "rebase my git branch"),
    "maps": ("directions on the map", "how far on the map", "map of the city", "find a street on the map"),
    "quiet": (),
}


def vector(text: str) -> NDArray[np.float32]:
    """Return the sum of a fixed random direction per word, as a unit vector: shared words make near vectors."""
    row = np.zeros(64)
    for word in text.lower().split():
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        row += np.random.default_rng(seed).normal(size=64)
    unit: NDArray[np.float32] = (row / (np.linalg.norm(row) or 1.0)).astype(np.float32)
    return unit


def embedded(names: tuple[str, ...] = tuple(TRIGGERS), **routing: Any) -> Build:
    """Return a build up to embed of these capabilities."""
    capabilities = tuple(
        Capability(
            name=name,
            tap="t",
            provider="p",
            place=PLACE,
            triggers=tuple(Located(text, PLACE) for text in TRIGGERS[name]),
        )
        for name in names
    )
    settings = WorkspaceSettings(name="w", place=PLACE, routing=RoutingSettings(**{"needs": False, **routing}))
    resolved = Resolved(servers=(), capabilities=capabilities, agents=(), skills=())
    rows = [vector(trigger.value) for capability in capabilities for trigger in capability.triggers]
    embedded = Embedded(
        encoder_name="words",
        identity="words-1",
        dimension=64,
        triggers=np.stack(rows) if rows else None,
        texts={text: vector(text) for text in distinct_texts(examples(capabilities))},
    )
    scoped = Scoped(tools=(), registries={})
    return Build(settings=settings, sources=Sources(), resolved=resolved, scoped=scoped, embedded=embedded)


def run(product: Build, cache: Path | None = None) -> tuple[Build, DiagnosticSink]:
    """Run the stage."""
    sink = DiagnosticSink()
    return calibrate(product, Context(root=Path("/w"), sink=sink, cache=Cache(cache), plugins=plugins_of())), sink


def router_of(product: Build) -> Router:
    """Return what the runtime would make of the product."""
    assert product.calibrated.gate is not None
    assert product.embedded.triggers is not None
    entries, start = [], 0
    for capability in product.resolved.capabilities:
        stop = start + len(capability.triggers)
        entries.append(CapabilityEntry(name=capability.name, provider="p", rows=(start, stop)))
        start = stop
    return load_router(product.calibrated.gate, product.calibrated.arrays, product.embedded.triggers, entries)


def test_a_learned_gate_activates_and_abstains() -> None:
    """Messages near the triggers go to their capability, a message like the background to none."""
    product, sink = run(embedded())
    router = router_of(product)
    assert sink.diagnostics == ()
    for message, capability in [
        ("list the docker containers please", "docker"),
        ("git branch log", "git"),
        ("is it on the map", "maps"),
        ("good morning! slept badly again", None),
    ]:
        assert router.decide(message, vector(message), tuple(TRIGGERS)).capability == capability


def test_the_gates_data_is_plain_and_its_arrays_small() -> None:
    """Data goes through JSON unchanged, weights are float16, and the arrays are those that the gate lists."""
    product, _ = run(embedded())
    assert product.calibrated.gate is not None
    assert json.loads(json.dumps(product.calibrated.gate.data)) == product.calibrated.gate.data
    assert product.calibrated.gate.data["classes"] == ["docker", "git", "maps"]
    assert product.calibrated.gate.arrays == tuple(sorted(product.calibrated.arrays))
    assert product.calibrated.arrays["vector_weights"].dtype == np.float16
    assert product.calibrated.arrays["gram_weights"].dtype == np.float16
    assert product.calibrated.gate.threshold == 0.175


def test_a_gate_tells_requests_from_chat() -> None:
    """Texts like triggers ask for something, those like the chat that ships with octoc do not."""
    build = embedded()
    chat = {text: vector(text) for text in chat_lines()}
    build = attrs.evolve(build, embedded=attrs.evolve(build.embedded, texts={**build.embedded.texts, **chat}))
    router = router_of(run(build)[0])
    assert router.reads_sentences
    texts = ["we had the whole week off", "stop my docker container", "he is on the bus", "a street on the map"]
    assert set(router.asking({text: vector(text) for text in texts})) == {texts[1], texts[3]}
    assert len(router.asking({text: vector(text) for text in TRIGGERS["git"]})) == ASKING
    assert not router_of(run(embedded())[0]).reads_sentences


def test_a_single_capability_has_a_gate() -> None:
    """One capability beside the background is two classes, and works as many do."""
    router = router_of(run(embedded(("docker",)))[0])
    message = "stop the docker container"
    assert router.decide(message, vector(message), ["docker"]).capability == "docker"
    small_talk = "good morning! slept badly again"
    assert router.decide(small_talk, vector(small_talk), ["docker"]).capability is None


@pytest.mark.parametrize("gate", ["calibrated", "octomind"])
def test_no_vectors_is_no_gate(gate: str) -> None:
    """Without triggers, or without an encoder, there is nothing to decide by."""
    product, sink = run(embedded(("quiet",), gate=gate))
    assert (product.calibrated.gate, dict(product.calibrated.arrays)) == (None, {})
    assert sink.diagnostics == ()


def test_octominds_gate_has_its_published_constants() -> None:
    """The octomind gate needs no learning; unset constants are .55, .08 and 3."""
    product, _ = run(embedded(gate="octomind"))
    assert product.calibrated.gate == Gate(kind="octomind", threshold=0.55, margin=0.08, top_k=3)
    assert product.calibrated.arrays == {}


def test_octominds_gate_takes_what_the_workspace_sets() -> None:
    """Threshold, margin and top_k of the workspace stand, a zero too."""
    product, _ = run(embedded(gate="octomind", threshold=0.45, margin=0.0, top_k=1))
    assert product.calibrated.gate == Gate(kind="octomind", threshold=0.45, margin=0.0, top_k=1)


def digest(product: Build) -> str:
    """Return a digest of all that the stage made."""
    assert product.calibrated.gate is not None
    whole = hashlib.sha256(json.dumps(product.calibrated.gate.data, sort_keys=True).encode())
    for name in sorted(product.calibrated.arrays):
        whole.update(product.calibrated.arrays[name].tobytes())
    return whole.hexdigest()


def test_the_same_input_gives_the_same_bits() -> None:
    """Learning twice gives the same bits, and with another hash seed in a process of its own too."""
    here = digest(run(embedded())[0])
    assert digest(run(embedded())[0]) == here
    program = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('stage_test', {__file__!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "print(module.digest(module.run(module.embedded())[0]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"}, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.stdout.strip() == here


def test_a_cached_gate_loads_no_scikit_learn(tmp_path: Path) -> None:
    """The second build takes the gate from the cache: the same bits, in a process that never loads scikit-learn."""
    here = digest(run(embedded(), tmp_path)[0])
    program = (
        "import importlib.util, pathlib, sys\n"
        f"spec = importlib.util.spec_from_file_location('stage_test', {__file__!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        f"product, _ = module.run(module.embedded(), pathlib.Path({str(tmp_path)!r}))\n"
        "print(module.digest(product), 'sklearn' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert done.stdout.split() == [here, "False"]


def test_other_texts_are_learned_anew(tmp_path: Path) -> None:
    """A cached gate of other triggers is not taken."""
    run(embedded(), tmp_path)
    product, _ = run(embedded(("docker", "git")), tmp_path)
    assert product.calibrated.gate is not None
    assert product.calibrated.gate.data["classes"] == ["docker", "git"]


def test_a_cache_that_lost_an_array_is_a_miss(tmp_path: Path) -> None:
    """A gate of which one array is gone is learned again, whole."""
    here = digest(run(embedded(), tmp_path)[0])
    min(tmp_path.glob("gate/*.npy")).unlink()
    assert digest(run(embedded(), tmp_path)[0]) == here
