"""The int8 graph that is made of the packaged weights."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

from octoc_embed_onnx import weights
from octoc_embed_onnx.quantize import LAYERS, WIDTH, NotTheModelError, quantize
from octoc_embed_onnx.weights import INPUT, MAX_TOKENS, OUTPUT, RECIPE

DIGEST_OF_RECIPE = {
    "matmulinteger per-column multi-head rev=1": "9e1d5a60f31491f845ab56b26de1681ac42a8a436780538e5f458d06bf208456",
}
"""Recipe -> digest of the graph's operators and constants: who changes the graph gives the recipe another name."""


@pytest.fixture(scope="module")
def packaged() -> bytes:
    """The weights as their package has them."""
    return weights.packaged_weights()


@pytest.fixture(scope="module")
def graph(packaged: bytes) -> bytes:
    """The graph that is made of them."""
    return quantize(packaged)


def _session(model: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _tokens(count: int) -> NDArray[np.int64]:
    inner = np.random.default_rng(count).integers(1000, 30_000, count - 2)
    return np.array([[101, *inner, 102]], np.int64)


def test_all_products_with_weights_are_integer_products(graph: bytes) -> None:
    """The graph has four MatMulInteger a layer, on int8 constants, and no float32 product but the attention's own."""
    found = onnx.load_from_string(graph).graph
    constants = {tensor.name: tensor.data_type for tensor in found.initializer}
    products = [node for node in found.node if node.op_type == "MatMulInteger"]
    assert len(products) == LAYERS * 4
    assert {constants[node.input[1]] for node in products} == {onnx.TensorProto.INT8}
    kinds = Counter(node.op_type for node in found.node)
    assert (kinds["MatMul"], kinds["Gemm"], kinds["MultiHeadAttention"]) == (0, 0, LAYERS)


def test_the_weights_are_the_packaged_bytes(packaged: bytes, graph: bytes) -> None:
    """No weight is rounded anew: the bytes of each matrix are those of the package."""

    def matrices(model: bytes) -> set[tuple[tuple[int, ...], str]]:
        found = (numpy_helper.to_array(tensor) for tensor in onnx.load_from_string(model).graph.initializer)
        # Queries, keys and values stand side by side.
        parts = (
            part
            for array in found
            if array.dtype == np.int8 and array.ndim == 2 and array.shape[0] != 512
            for part in (np.split(array, 3, axis=1) if array.shape == (WIDTH, 3 * WIDTH) else [array])
        )
        return {(part.shape, hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest()) for part in parts}

    assert matrices(graph) == matrices(packaged)


@pytest.mark.parametrize("count", [3, 8, 16, 32, 100, MAX_TOKENS])
def test_vectors_are_close_to_those_of_the_packaged_weights(packaged: bytes, graph: bytes, count: int) -> None:
    """A text of any length has a unit vector within a cosine of .97 of what float32 products give."""
    tokens = _tokens(count)
    given = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
    expected = _session(packaged).run(["last_hidden_state"], given)[0][0].mean(axis=0)
    found = _session(graph).run([OUTPUT], {INPUT: tokens})[0]
    assert found.shape == (WIDTH,)
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-6)
    assert found @ expected / np.linalg.norm(expected) > 0.97


def test_it_is_the_same_bytes_in_another_process(graph: bytes, tmp_path: Path) -> None:
    """Made in another folder, with another hash seed, the graph has the same bytes."""
    program = (
        "import hashlib; from octoc_embed_onnx import weights; from octoc_embed_onnx.quantize import quantize\n"
        "print(hashlib.sha256(quantize(weights.packaged_weights())).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": "7", "LC_ALL": "C"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == hashlib.sha256(graph).hexdigest()


def test_the_recipe_names_what_is_made(graph: bytes) -> None:
    """The recipe's text belongs to these operators and constants: another graph needs another text."""
    found = onnx.load_from_string(graph).graph
    digest = hashlib.sha256()
    for node in found.node:
        attributes = sorted((each.name, repr(onnx.helper.get_attribute_value(each))) for each in node.attribute)
        digest.update(repr((node.op_type, node.domain, [*node.input], [*node.output], attributes)).encode())
    for tensor in found.initializer:
        array = numpy_helper.to_array(tensor)
        digest.update(repr((tensor.name, array.dtype.str, array.shape)).encode() + array.tobytes())
    assert DIGEST_OF_RECIPE[RECIPE] == digest.hexdigest()


def test_another_model_is_refused(packaged: bytes) -> None:
    """Weights that lack a matrix or a constant are refused."""
    model = onnx.load_from_string(packaged)
    kept = [tensor for tensor in model.graph.initializer if not tensor.name.endswith("LayerNorm.bias")]
    few = [tensor for tensor in model.graph.initializer if not tensor.name.startswith("val_")]
    for tensors, said in ((kept, r"lack `inner.embeddings.LayerNorm.bias`"), (few, "have 0 int8 matrices")):
        altered = onnx.ModelProto()
        altered.graph.initializer.extend(tensors)
        with pytest.raises(NotTheModelError, match=said):
            quantize(altered.SerializeToString())
