"""How the constants of routing's gate are chosen: each on some development fields, judged on the other ones.

`EXAMPLES_THRESHOLDS`: for each profile, the lowest threshold at which a share of the messages for no capability
activate nothing, on two fields with their own taps; then what it gives on the third. `HELPED`: the share of
capabilities that needs help, in each field and in the sample tap, if that is here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np

from benchmarks import routing, routing_fields
from benchmarks.measure import realworld
from benchmarks.routing_fields import DEVELOP, Message
from octoc.compiler.calibrate.matching import HELPED
from octoc.routing.gate import EXAMPLES_THRESHOLDS
from octoc.runtime.activation.route import decide
from octoc.runtime.loaded_bundle import LoadedBundle

ABSTAINS: Mapping[str, float] = {"eager": 0.92, "balanced": 0.95, "cautious": 0.97}
"""Profile -> the share of messages for no capability that should activate nothing."""

KINDS = frozenset({"hard", "plain", "none", "small talk"})


@attrs.frozen
class Scored:
    """A message and the capability that scored highest, with its score."""

    message: Message
    first: str
    score: float


def main() -> None:
    """Measure and print."""
    by_field: dict[str, list[Scored]] = {}
    helped: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        embedder = routing_fields.remembering_encoder()
        for field in DEVELOP:
            capabilities, messages = routing_fields.read([field])
            loaded = routing_fields.built(Path(folder) / field, capabilities, embedder)
            by_field[field] = _scored(loaded, messages)
            helped[field] = _helped(loaded)
        real = realworld()
        if real is not None:
            helped["sample tap"] = _helped(routing.built(Path(folder), real, ""))
    print(f"{'profile':<10}{'judged on':<12}{'threshold':>10}{'right':>8}{'wrong':>8}{'abstains':>10}")
    for profile, share in ABSTAINS.items():
        for field, scored in by_field.items():
            others = [one for name, found in by_field.items() if name != field for one in found]
            _row(profile, field, _chosen(others, share), scored)
        every = [one for found in by_field.values() for one in found]
        _row(profile, "all", _chosen(every, share), every)
        _row(profile, "shipped", EXAMPLES_THRESHOLDS[profile], every)
    print(f"\nshare of capabilities that needs help (used from {HELPED})")
    for name, part in helped.items():
        print(f"{name:<12}{part:>6.2f}")


def _scored(loaded: LoadedBundle, messages: Sequence[Message]) -> list[Scored]:
    names = tuple(loaded.capabilities)
    found = []
    for message in messages:
        if message.kind in KINDS:
            first, score = next(iter(decide(loaded, message.text, names).scores.items()), ("", 0.0))
            found.append(Scored(message, first, score))
    return found


def _helped(loaded: LoadedBundle) -> float:
    gate = loaded.bundle.gate
    if gate is None:
        return 0.0
    return len({name for name, helps in gate.data["needs_judged"].values() if helps}) / len(gate.data["classes"])


def _chosen(scored: Sequence[Scored], share: float) -> float:
    return float(np.quantile([one.score for one in scored if not one.message.expect], share))


def _row(profile: str, judged_on: str, threshold: float, scored: Sequence[Scored]) -> None:
    wanted = [one for one in scored if one.message.expect]
    active = [one for one in wanted if one.score >= threshold]
    right = sum(one.first == one.message.expect for one in active)
    none = [one.score < threshold for one in scored if not one.message.expect]
    cells = f"{right / len(wanted):>8.3f}{(len(active) - right) / len(wanted):>8.3f}{sum(none) / len(none):>10.3f}"
    print(f"{profile:<10}{judged_on:<12}{threshold:>10.3f}{cells}")


if __name__ == "__main__":
    main()
