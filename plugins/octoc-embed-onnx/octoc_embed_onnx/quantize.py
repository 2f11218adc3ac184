"""Makes a graph with int8 products from the packaged weights: the encoder that bundles ship. Imports `onnx`.

The packaged file stores its matrices as int8 with a scale for each column, and converts them to float32 when it is
loaded. Here MatMulInteger takes the same bytes, so only the activations are rounded, one layer input at a time. Pooling
and normalisation are part of the graph: token ids in, a unit vector out.

`onnxruntime.quantization.quantize_dynamic` cannot make it: it looks for products with a float32 constant, but in the
packaged file each constant passes through Cast and Mul first, so it returns the file unchanged. To notice such a
failure, `quantize` counts the integer products of its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from octoc_embed_onnx.weights import INPUT, MAX_TOKENS, OUTPUT

LAYERS = 6
HEADS = 12
WIDTH = 384
_OPSET = 17
_FUSED = "com.microsoft"
"""Domain of onnxruntime's own operators, which each of its builds has."""
_IR_VERSION = 8
_EPSILON = 1e-12
_MATRICES = ("query", "key", "value", "out", "up", "down")
_PRODUCTS = 4
_INNER = "inner.encoder.layer"

Arrays = Mapping[str, NDArray[np.generic]]


class NotTheModelError(ValueError):
    """The weights do not fit the recipe."""


def quantize(model: bytes) -> bytes:
    """Return the int8 graph of the packaged model. The result depends only on the bytes of the model.

    The graph takes `input_ids`, shape (1, n) int64, and gives `embedding`, shape (384,) float32, L2-normalised.
    Raises: NotTheModelError.
    """
    initializers = onnx.load_from_string(model).graph.initializer
    return graph_of({tensor.name: numpy_helper.to_array(tensor) for tensor in initializers})


def graph_of(arrays: Arrays) -> bytes:
    """Return the graph of weights that have the names and forms of the packaged file. Raises: NotTheModelError."""
    try:
        graph = _Graph()
        _write(graph, arrays)
    except KeyError as missing:
        raise NotTheModelError(f"the weights lack `{missing.args[0]}`") from None
    made = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "minilm-l6-int8",
            [helper.make_tensor_value_info(INPUT, TensorProto.INT64, [1, "n"])],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [WIDTH])],
            graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)],
        producer_name="octoc",
    )
    made.ir_version = _IR_VERSION
    products = sum(node.op_type == "MatMulInteger" for node in made.graph.node)
    if products != LAYERS * _PRODUCTS:
        raise NotTheModelError(f"the graph has {products} integer products, and {LAYERS * _PRODUCTS} were expected")
    data: bytes = made.SerializeToString(deterministic=True)
    return data


class _Graph:
    """A graph under construction. Values are referred to by name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._constants: dict[str, str] = {}

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Add a node and return the name of its first output; `name.1` and `name.2` are the others."""
        name = f"v{len(self.nodes)}"
        names = [name, *(f"{name}.{number}" for number in range(1, outputs))]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=name, **attributes))
        return name

    def array(self, name: str, array: NDArray[np.generic]) -> str:
        """Add a constant."""
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def number(self, name: str, value: NDArray[np.generic]) -> str:
        """Add a small constant, once for all its uses."""
        if name not in self._constants:
            self._constants[name] = self.array(name, value)
        return self._constants[name]


def _write(graph: _Graph, arrays: Arrays) -> None:
    state = _embeddings(graph, arrays)
    for layer, matrices in enumerate(_layers(arrays)):
        state = _layer(graph, arrays, layer, matrices, state)
    # One text without padding: the mean over the mask is the mean over all tokens.
    pooled = graph.node("ReduceMean", state, axes=[0, 1], keepdims=0)
    length = graph.node("ReduceL2", pooled, axes=[0], keepdims=1)
    graph.node("Div", pooled, length)
    graph.nodes[-1].output[0] = OUTPUT


def _layers(arrays: Arrays) -> Iterator[tuple[str, ...]]:
    """Yield the names of each layer's six matrices; the export numbers them in the order of use."""
    names = sorted(
        (name.removesuffix("_q") for name in arrays if name.startswith("val_") and name.endswith("_q")),
        key=lambda name: int(name.removeprefix("val_")),
    )
    if len(names) != LAYERS * len(_MATRICES):
        raise NotTheModelError(
            f"the weights have {len(names)} int8 matrices, and {LAYERS * len(_MATRICES)} were expected"
        )
    for start in range(0, len(names), len(_MATRICES)):
        yield tuple(names[start : start + len(_MATRICES)])


def _embeddings(graph: _Graph, arrays: Arrays) -> str:
    head = "inner.embeddings"
    zero, one, two = (
        graph.array(name, np.array([value], np.int64)) for value, name in enumerate(("zero", "one", "two"))
    )
    table = graph.array(f"{head}.words_q", arrays[f"{head}.word_embeddings.weight_q"])
    scale = graph.array(f"{head}.words_scale", arrays[f"{head}.word_embeddings.weight_scale"])
    rows = graph.node("Cast", graph.node("Gather", table, INPUT), to=TensorProto.FLOAT)
    words = graph.node("Mul", rows, graph.node("Gather", scale, INPUT))
    count = graph.node("Slice", graph.node("Shape", INPUT), one, two, zero)
    here = graph.node("Slice", graph.array(f"{head}.positions", _positions(arrays, head)), zero, count, one)
    return _normalised(graph, arrays, f"{head}.LayerNorm", graph.node("Add", words, here))


def _positions(arrays: Arrays, head: str) -> NDArray[np.float32]:
    """Return the vector of each position, shape (1, tokens, width), with the row of the only segment added."""
    name = f"{head}.position_embeddings.weight"
    rows, scales = arrays[f"{name}_q"][:MAX_TOKENS], arrays[f"{name}_scale"].reshape(-1, 1)[:MAX_TOKENS]
    segment = arrays[f"{head}.token_type_embeddings.weight"][0]
    return np.asarray(rows.astype(np.float32) * scales.astype(np.float32) + segment.astype(np.float32))[None]


def _layer(graph: _Graph, arrays: Arrays, layer: int, matrices: tuple[str, ...], state: str) -> str:
    named = dict(zip(_MATRICES, matrices, strict=True))
    head = f"{_INNER}.{layer}"
    graph.node("Split", _attended(graph, arrays, head, named, _quantized(graph, state)), outputs=3, axis=-1)
    # One operator instead of thirteen: it splits the heads, scales by their width and joins them again.
    mixed = graph.node("MultiHeadAttention", *graph.nodes[-1].output, domain=_FUSED, num_heads=HEADS)
    out = _stored(graph, arrays, named["out"], f"{head}.attention.output.dense.bias", _quantized(graph, mixed))
    state = _normalised(graph, arrays, f"{head}.attention.output.LayerNorm", graph.node("Add", out, state))
    up = _stored(graph, arrays, named["up"], f"{head}.intermediate.dense.bias", _quantized(graph, state))
    down = _stored(graph, arrays, named["down"], f"{head}.output.dense.bias", _quantized(graph, _gelu(graph, up)))
    return _normalised(graph, arrays, f"{head}.output.LayerNorm", graph.node("Add", down, state))


def _quantized(graph: _Graph, state: str) -> str:
    """Quantise a layer's input once for all its products: `name`, `name.1` its scale, `name.2` its zero."""
    return graph.node("DynamicQuantizeLinear", state, outputs=3)


def _attended(graph: _Graph, arrays: Arrays, head: str, named: Mapping[str, str], inputs: str) -> str:
    """Return queries, keys and values side by side: one product instead of three, the same numbers."""
    parts = ("query", "key", "value")
    return _product(
        graph,
        f"{head}.attention.self",
        np.concatenate([arrays[f"{named[part]}_q"] for part in parts], axis=1),
        np.concatenate([_scale(arrays, named[part]) for part in parts]),
        np.concatenate([arrays[f"{head}.attention.self.{part}.bias"] for part in parts]),
        inputs,
    )


def _stored(graph: _Graph, arrays: Arrays, name: str, bias: str, inputs: str) -> str:
    return _product(graph, name, arrays[f"{name}_q"], _scale(arrays, name), arrays[bias], inputs)


def _scale(arrays: Arrays, name: str) -> NDArray[np.generic]:
    return arrays[f"{name}_scale"].reshape(-1)


def _product(
    graph: _Graph,
    name: str,
    matrix: NDArray[np.generic],
    scale: NDArray[np.generic],
    bias: NDArray[np.generic],
    inputs: str,
) -> str:
    stored = graph.array(f"{name}_q", matrix)
    product = graph.node("MatMulInteger", inputs, stored, f"{inputs}.2")
    scales = graph.node("Mul", f"{inputs}.1", graph.array(f"{name}_scale", scale.astype(np.float32)))
    values = graph.node("Mul", graph.node("Cast", product, to=TensorProto.FLOAT), scales)
    return graph.node("Add", values, graph.array(f"{name}.bias", bias.astype(np.float32)))


def _gelu(graph: _Graph, value: str) -> str:
    root = graph.number("root", np.array(np.sqrt(2.0), np.float32))
    one = graph.number("unit", np.array(1.0, np.float32))
    half = graph.number("half", np.array(0.5, np.float32))
    error = graph.node("Add", graph.node("Erf", graph.node("Div", value, root)), one)
    return graph.node("Mul", graph.node("Mul", value, error), half)


def _normalised(graph: _Graph, arrays: Arrays, name: str, value: str) -> str:
    weight = graph.array(f"{name}.weight", arrays[f"{name}.weight"])
    bias = graph.array(f"{name}.bias", arrays[f"{name}.bias"])
    return graph.node("LayerNormalization", value, weight, bias, axis=-1, epsilon=_EPSILON)
