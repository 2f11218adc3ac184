"""Right activation and abstention of both gates, on messages written for the core tap and used for nothing else."""

from __future__ import annotations

import random
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import ROOT
from octoc.compiler.build import build
from octoc.runtime import Runtime, Session

GATES = {
    "calibrated (default)": 'gate = "calibrated"',
    "octomind .55 / .08": 'gate = "octomind"',
    "octomind .45 / .08": 'gate = "octomind"\nthreshold = 0.45\nmargin = 0.08',
}
MESSAGES = ROOT / "benchmarks" / "data" / "core_messages.toml"
SAMPLES = 2000


def main() -> None:
    """Measure and print."""
    with MESSAGES.open("rb") as file:
        messages = tomllib.load(file)
    positives = [(text, name) for name, texts in messages["want"].items() for text in texts]
    negatives = [(text, None) for text in messages["none"]["messages"]]
    print(f"{len(positives)} messages with a capability, {len(negatives)} without; 95 % bootstrap intervals")
    print(f"{'gate':<22} {'right':>18} {'wrong':>18} {'first':>18} {'abstains rightly':>18}")
    for label, routing in GATES.items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            settings = (
                f'[workspace]\nname = "b"\n\n[[taps]]\nname = "core"\npath = "octoc:core"\n\n[routing]\n{routing}\n'
            )
            root.joinpath("octoc.toml").write_text(settings, encoding="utf-8")
            outcome = build(root)
            assert outcome.bundle is not None
            runtime = Runtime.open(outcome.bundle, env=_Anything())
            session = runtime.session()
            hits = [_judge(session, text, want) for text, want in positives]
            quiet = [session.route(text).capability is None for text, _ in negatives]
        figures = ([right for right, _, _ in hits], [wrong for _, wrong, _ in hits], [first for _, _, first in hits])
        print(f"{label:<22} " + " ".join(_interval(values) for values in (*figures, quiet)))


class _Anything(dict[str, str]):
    """An environment in which every variable is set, so that no capability is left out."""

    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        return default or f"set-{key}"


def _judge(session: Session, text: str, want: str) -> tuple[bool, bool, bool]:
    """Return whether the right capability was activated, a wrong one was, and the right one scored first."""
    routing = session.route(text)
    first = next(iter(routing.scores), None)
    return routing.capability == want, routing.capability not in (None, want), first == want


def _interval(values: Sequence[bool]) -> str:
    draw = random.Random(1)  # a bootstrap, no secret
    means = sorted(sum(draw.choices(values, k=len(values))) / len(values) for _ in range(SAMPLES))
    low, high = means[int(SAMPLES * 0.025)], means[int(SAMPLES * 0.975)]
    return f"{sum(values) / len(values):>6.2f} ({low:.2f}-{high:.2f})"


if __name__ == "__main__":
    main()
