"""The space in which examples are compared."""

import numpy as np

from octoc.compiler.calibrate.space import AXES, FEWEST, space_of
from octoc.compiler.calibrate.texts import Example

WIDE = 160
NOISE = 8
DRAW = np.random.default_rng(7)


def messages(needs: int) -> tuple[list[Example], dict[str, np.ndarray]]:
    """Return needs that differ in small ways, with messages that vary in large ways that mean nothing."""
    found, vectors = [], {}
    for need in range(needs):
        own = np.concatenate([np.zeros(NOISE), DRAW.normal(size=WIDE - NOISE)])
        for number in range(4):
            row = own + np.concatenate([DRAW.normal(size=NOISE) * 5, DRAW.normal(size=WIDE - NOISE) * 0.3])
            found.append(Example(f"{need} {number}", None, 0.1, need=str(need)))
            vectors[f"{need} {number}"] = (row / np.linalg.norm(row)).astype(np.float32)
    return found, vectors


def test_messages_of_one_need_come_together() -> None:
    """What messages of one need differ in counts less than what needs differ in."""
    found, vectors = messages(FEWEST + 20)
    space = space_of(found, vectors)
    assert space is not None
    assert space.axes.shape == (AXES, WIDE)
    one, same, other = (space.turned(vectors[text]) for text in ("3 0", "3 1", "4 0"))
    assert one @ same > 0.7 > one @ other
    raw = [vectors[text] for text in ("3 0", "3 1")]
    assert one @ same > raw[0] @ raw[1]
    assert np.allclose(space.turned(np.stack([vectors["3 0"], vectors["3 1"]])), np.stack([one, same]), atol=1e-5)


def test_the_same_messages_make_the_same_space() -> None:
    """Bit by bit, in whatever order they stand."""
    found, vectors = messages(FEWEST + 1)
    first, again = space_of(found, vectors), space_of(list(found), dict(reversed(vectors.items())))
    assert first is not None
    assert again is not None
    assert (first.axes.tobytes(), first.mean.tobytes()) == (again.axes.tobytes(), again.mean.tobytes())


def test_few_needs_make_no_space() -> None:
    """Between few needs there are too few directions, and texts of no need make none."""
    found, vectors = messages(FEWEST - 1)
    assert space_of(found, vectors) is None
    assert space_of([Example(text, None, 0.1) for text in vectors], vectors) is None
