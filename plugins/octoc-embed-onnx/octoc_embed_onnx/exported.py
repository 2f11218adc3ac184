"""A sentence encoder in the usual export format: named inputs, and token states or a sentence vector as output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from octoc.plugin import PluginError
from octoc.plugin.toolkit import name_list
from octoc_embed_onnx.session import open_session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_POOL: Mapping[str, Callable[[Any], Any]] = {
    "mean": lambda states: states.mean(axis=0),
    "cls": lambda states: states[0],
    "max": lambda states: states.max(axis=0),
    "none": lambda vector: vector,
}
POOLINGS = tuple(_POOL)
"""How token states become one vector; `none` if the model's output is already that vector."""

# One text without padding: all tokens count, and belong to one segment.
_INPUTS: Mapping[str, Callable[[int], NDArray[np.int64]]] = {
    "attention_mask": lambda count: np.ones((1, count), np.int64),
    "token_type_ids": lambda count: np.zeros((1, count), np.int64),
    "position_ids": lambda count: np.arange(count, dtype=np.int64)[None],
}
_IDS = "input_ids"
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_OF_TOKENS = ("last_hidden_state", "token_embeddings")
_OF_SENTENCE = ("sentence_embedding",)
_PROBE = (0, 0)
"""Token ids of each vocabulary, for a run that shows the length of a vector if the file does not have it."""


class ExportedModel:
    """An open model. Safe to use from several threads.

    Args:
        model: the ONNX file's bytes.
        pooling: one of POOLINGS.

    Raises: PluginError, if onnxruntime refuses the file, or its inputs or outputs are not those of an encoder.
    """

    def __init__(self, model: bytes, pooling: str) -> None:
        session = open_session(
            model, "`model.onnx` of the encoder: expected an ONNX file, all in one, that the installed version can read"
        )
        self._run = session.run
        self._inputs = {each.name: _input_type(each) for each in session.get_inputs()}
        if _IDS not in self._inputs:
            raise PluginError(f"`model.onnx` of the encoder has no input `{_IDS}`: export it to take token ids")
        output = _output(session.get_outputs(), pooling)
        self._output: str = output.name
        self._pool = _POOL[pooling]
        self._rank = 1 if pooling == "none" else 2
        self._declared = output.shape[-1] if output.shape else None

    @cached_property
    def dimension(self) -> int:
        """Length of a vector. Raises: PluginError, if the model has to run to find it, and fails."""
        return self._declared if isinstance(self._declared, int) else len(self._pooled(_PROBE))

    def embed(self, tokens: Sequence[int]) -> Vector:
        """Return the unit vector of one text's token ids, shape (dimension,). Raises: PluginError."""
        pooled = self._pooled(tokens)
        length = np.linalg.norm(pooled)
        if not np.isfinite(length):
            raise PluginError("`model.onnx` of the encoder gave a vector that is not finite")
        unit: Vector = pooled / length if length else pooled
        return unit

    def _pooled(self, tokens: Sequence[int]) -> Vector:
        given = {_IDS: np.array([tokens], np.int64)}
        given |= {name: make(len(tokens)) for name, make in _INPUTS.items()}
        try:
            inputs = {name: given[name].astype(kind) for name, kind in self._inputs.items()}
            (output,) = self._run([self._output], inputs)
        except Exception as error:  # onnxruntime's errors share only the base Exception
            raise PluginError(
                f"`model.onnx` of the encoder failed on a text of {len(tokens)} tokens: "
                f"is `tokenizer.json` this model's, and `max_tokens` not more than it takes? {_first_line(error)}"
            ) from error
        values = np.asarray(output, np.float32)
        if values.ndim != self._rank + 1 or values.shape[0] != 1 or 0 in values.shape:
            raise PluginError(
                f"output `{self._output}` of the encoder has shape {values.shape}, expected "
                f"{'(1, d)' if self._rank == 1 else '(1, tokens, d)'}: set `pooling` to what the model needs"
            )
        pooled: Vector = self._pool(values[0])
        return pooled


def _input_type(given: Any) -> Any:
    if given.name != _IDS and given.name not in _INPUTS:
        known = name_list((_IDS, *_INPUTS))
        raise PluginError(f"`model.onnx` of the encoder has an input `{given.name}`, expected only {known}")
    if given.type not in _TYPES:
        raise PluginError(f"input `{given.name}` of the encoder is {given.type}, expected {' or '.join(_TYPES)}")
    if any(isinstance(size, int) and size > 1 for size in given.shape):
        raise PluginError(
            f"input `{given.name}` of the encoder has the fixed shape {tuple(given.shape)}: "
            "export the model for texts of any length"
        )
    return _TYPES[given.type]


def _output(outputs: Sequence[Any], pooling: str) -> Any:
    names, rank = (_OF_SENTENCE, 2) if pooling == "none" else (_OF_TOKENS, 3)
    named = {each.name: each for each in outputs}
    for name in names:
        if name in named:
            return named[name]
    shaped = [each for each in outputs if len(each.shape) == rank]
    if len(shaped) == 1:
        return shaped[0]
    raise PluginError(
        f"`model.onnx` of the encoder has the outputs {name_list(named)}, and pooling `{pooling}` takes "
        f"{' or '.join(f'`{name}`' for name in names)}: "
        + ("set `pooling` to `mean` or `cls`" if pooling == "none" else "set `pooling` to `none` for a sentence vector")
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:200]
