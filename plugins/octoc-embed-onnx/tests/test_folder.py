"""The embedder `folder`: a user's own model. The models here are made by `onnx`, the tokenizers by `tokenizers`."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import octoc_embed_onnx
from octoc.compiler import BuildOutcome, build
from octoc.plugin import Embedder, PluginError
from octoc.plugin.toolkit import install_command
from octoc.runtime import OpenBundle, Runtime
from octoc.testing import EmbedderContract, WorkspaceBuilder
from octoc_embed_onnx import folder as module
from octoc_embed_onnx.folder import FolderEmbedder, make_folder

WORDS = ["[UNK]", "[CLS]", "[SEP]", "query", ":", "open", "pull", "request", "what", "time", "is", "it", "x"]
WIDTH = 6
TABLE = np.random.default_rng(5).standard_normal((len(WORDS), WIDTH)).astype(np.float32)
BERT = ("input_ids", "attention_mask", "token_type_ids")


def write_tokenizer(folder: Path) -> None:
    """Write a tokenizer.json of whole words; one that pads and cuts, as exports often do."""
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_padding(length=16)
    tokenizer.enable_truncation(4)
    tokenizer.save(str(folder / "tokenizer.json"))


def write_model(
    folder: Path,
    *,
    inputs: Sequence[str] = BERT,
    kind: int = TensorProto.INT64,
    mask_kind: int | None = None,
    outputs: Sequence[str] = ("last_hidden_state",),
    tokens: int | str = "tokens",
    table: NDArray[np.float32] = TABLE,
) -> None:
    """Write a model.onnx that looks tokens up, and counts those that the mask and the types leave out."""
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["found"])]
    state = "found"
    for name in inputs:
        if name != "input_ids":
            # Ones in the mask change nothing; zeros, or another type, would.
            nodes.append(helper.make_node("Cast", [name], [f"{name}.f"], to=TensorProto.FLOAT))
            nodes.append(helper.make_node("Unsqueeze", [f"{name}.f", "last"], [f"{name}.u"]))
            neutral = "Mul" if name == "attention_mask" else "Add"
            nodes.append(helper.make_node(neutral, [state, f"{name}.u"], [f"{name}.s"]))
            state = f"{name}.s"
    shapes: dict[str, list[str | int | None]] = {"sentence_embedding": [1, WIDTH], "vector": ["batch", "width"]}
    for name in outputs:
        if name in shapes:
            nodes.append(helper.make_node("ReduceMean", [state], [name], axes=[1], keepdims=0))
        else:
            nodes.append(helper.make_node("Identity", [state], [name]))
    made = helper.make_model(
        helper.make_graph(
            nodes,
            "tiny",
            [
                helper.make_tensor_value_info(
                    name, mask_kind if mask_kind and name == "attention_mask" else kind, ["batch", tokens]
                )
                for name in inputs
            ],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes.get(name, ["batch", tokens, WIDTH]))
                for name in outputs
            ],
            [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([2], np.int64), "last")],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    made.ir_version = 8
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(made.SerializeToString())


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A user's own encoder."""
    folder = tmp_path / "my-encoder"
    write_model(folder)
    write_tokenizer(folder)
    return folder


def make(folder: Path, **settings: str) -> FolderEmbedder:
    """Make the embedder of a folder, as at build time."""
    return make_folder({"path": str(folder), **settings}, None)


def expected(*words: str, pool: str = "mean") -> NDArray[np.float32]:
    """Return what the tiny model makes of `[CLS] words [SEP]`."""
    rows = TABLE[[WORDS.index(word) for word in ("[CLS]", *words, "[SEP]")]]
    vector: NDArray[np.float32] = {"mean": rows.mean(axis=0), "cls": rows[0], "max": rows.max(axis=0)}[pool]
    return vector / np.linalg.norm(vector)


class TestContract(EmbedderContract):
    """What octoc asks of every embedder."""

    @pytest.fixture(autouse=True)
    def _own(self, own: Path) -> None:
        self.folder = own

    def make_embedder(self) -> Embedder:
        return make(self.folder)

    def make_from_files(self, embedder: Embedder) -> Embedder:
        return make_folder({}, embedder.files())


@pytest.mark.parametrize("pool", ["mean", "cls", "max"])
def test_token_states_are_pooled_as_declared(own: Path, pool: str) -> None:
    """The vector is the mean, the first or the largest of the tokens' states, of length one, without padding."""
    found = make(own, pooling=pool).embed("Open pull request")
    assert np.allclose(found, expected("open", "pull", "request", pool=pool), atol=1e-6)


def test_a_sentence_vector_is_taken_as_it_is(own: Path) -> None:
    """With pooling `none` the output `sentence_embedding`, or the only one of two dimensions, is the vector."""
    for outputs in (("last_hidden_state", "sentence_embedding"), ("last_hidden_state", "vector")):
        write_model(own, outputs=outputs)
        embedder = make(own, pooling="none")
        assert np.allclose(embedder.embed("open"), expected("open"), atol=1e-6)
        assert embedder.dimension == WIDTH


def test_the_prefix_stands_before_each_text(own: Path) -> None:
    """A declared prefix is encoded with the text; a text without tokens of its own stays the zero vector."""
    embedder = make(own, prefix="query: ")
    assert np.allclose(embedder.embed("open"), expected("query", ":", "open"), atol=1e-6)
    assert not embedder.embed(" ").any()


def test_a_long_text_is_cut_to_max_tokens(own: Path) -> None:
    """`max_tokens` counts all tokens, and is what counts where tokenizer.json says another length."""
    words = ["open"] * 40
    assert np.allclose(make(own).embed(" ".join(words)), expected(*words), atol=1e-6)
    assert np.allclose(make(own, max_tokens="8").embed(" ".join(words)), expected(*words[:6]), atol=1e-6)


@pytest.mark.parametrize("inputs", [("input_ids",), ("input_ids", "attention_mask"), BERT])
@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
def test_a_model_is_given_the_inputs_that_it_has(own: Path, inputs: Sequence[str], kind: int) -> None:
    """Mask and types are given where the model has them, as the integers that it takes."""
    write_model(own, inputs=inputs, kind=kind)
    assert np.allclose(make(own).embed("open"), expected("open"), atol=1e-6)


def test_a_model_in_a_folder_of_its_own_is_found(own: Path) -> None:
    """sentence-transformers' layout, `onnx/model.onnx`, serves as well."""
    identity = make(own).identity
    (own / "onnx").mkdir()
    (own / "model.onnx").rename(own / "onnx" / "model.onnx")
    assert make(own).identity == identity


def test_the_identity_is_of_all_that_shapes_a_vector(own: Path, tmp_path: Path) -> None:
    """Files, prefix, pooling and length make the identity; the place of the folder does not, nor other files in it."""
    found = {make(own, **one).identity for one in ({}, {"prefix": "q"}, {"pooling": "cls"}, {"max_tokens": "9"})}
    assert len(found) == 4
    moved = own.rename(tmp_path / "moved")
    (moved / "README.md").write_text("model", encoding="utf-8")
    assert make(moved).identity in found
    write_model(moved, table=TABLE + 1)
    assert make(moved).identity not in found


def test_files_serve_without_the_folder(own: Path) -> None:
    """What is shipped is the model and the tokenizer, and the bundle's settings need no path."""
    embedder = make(own, prefix="query: ", pooling="cls")
    files = embedder.files()
    assert set(files) == {"model.onnx", "tokenizer.json"}
    again = octoc_embed_onnx.octoc_make_embedder(
        name="folder", settings={"prefix": "query: ", "pooling": "cls"}, files=files
    )
    assert again is not None
    assert again.identity == embedder.identity
    assert again.embed("open").tobytes() == embedder.embed("open").tobytes()


@pytest.mark.parametrize(
    "settings,said",
    [
        ({}, "set `path`"),
        ({"path": ""}, "set `path`"),
        ({"path": "/nowhere/at-all"}, "`at-all` does not exist"),
        ({"path": __file__}, r"`test_folder\.py` is not a folder"),
        ({"pool": "mean"}, "has `pool`, expected `path`, `prefix`, `pooling`, `max_tokens`"),
        ({"pooling": "average"}, "pooling `average`, expected `mean`, `cls`, `max`, `none`"),
        ({"max_tokens": "many"}, "max_tokens `many`, expected a whole number from 8 to 32768"),
        ({"max_tokens": "7"}, "max_tokens `7`"),
        ({"max_tokens": "²"}, "max_tokens `²`"),
    ],
)
def test_unsound_settings_are_named(settings: Mapping[str, str], said: str) -> None:
    """Each setting that is unsound is an error that names it and says what was expected."""
    with pytest.raises(PluginError, match=said):
        make_folder(settings, None)


def test_a_folder_that_lacks_a_file_is_refused(own: Path) -> None:
    """Missing files, and weights kept in a file of their own, are errors before anything is opened."""
    (own / "model.onnx_data").write_bytes(b"")
    with pytest.raises(PluginError, match=r"keeps its weights in `model\.onnx_data`: save it as one file"):
        make(own)
    (own / "tokenizer.json").unlink()
    (own / "model.onnx_data").unlink()
    with pytest.raises(PluginError, match=r"`my-encoder` has no `tokenizer\.json`"):
        make(own)
    (own / "model.onnx").unlink()
    with pytest.raises(PluginError, match=r"`my-encoder` has no `model\.onnx`"):
        make(own)
    with pytest.raises(PluginError, match=r"lacks `tokenizer\.json`"):
        make_folder({}, {"model.onnx": b""})


def test_what_cannot_or_should_not_be_read_is_refused(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file above the limit is not read, nor a folder or a device."""
    monkeypatch.setitem(module.MAX_BYTES, "tokenizer.json", 10)
    with pytest.raises(PluginError, match=r"`tokenizer\.json` of the encoder has \d+ bytes, and at most 10 are read"):
        make(own)
    (own / "model.onnx").unlink()
    os.mkfifo(own / "model.onnx")
    with pytest.raises(PluginError, match=r"has no `model\.onnx`"):
        make(own)


@pytest.mark.parametrize(
    "data,said",
    [(b"{}", "cannot be read"), (b"\xff", "cannot be read"), (b"not json", "cannot be read")],
)
def test_a_tokenizer_that_is_none_is_refused(own: Path, data: bytes, said: str) -> None:
    """A tokenizer.json that holds no tokenizer is an error of the first text."""
    (own / "tokenizer.json").write_bytes(data)
    with pytest.raises(PluginError, match=rf"`tokenizer\.json` of the encoder {said}"):
        make(own).embed("open")


@pytest.mark.parametrize(
    "model,pooling,said",
    [
        ({"inputs": ("input_ids", "pixels")}, "mean", "has an input `pixels`, expected only `input_ids`"),
        ({"mask_kind": TensorProto.FLOAT}, "mean", r"`attention_mask` of the encoder is tensor\(float\), expected"),
        ({"kind": TensorProto.FLOAT, "inputs": ("input_ids",)}, "mean", "cannot open"),
        ({"tokens": 128}, "mean", "fixed shape .*128"),
        ({"outputs": ("sentence_embedding",)}, "mean", "set `pooling` to `none`"),
        ({"outputs": ("last_hidden_state",)}, "none", "set `pooling` to `mean` or `cls`"),
        ({"table": TABLE[:3]}, "mean", r"failed on a text of 3 tokens: is `tokenizer\.json` this model's"),
        ({"table": TABLE * np.float32("nan")}, "mean", "not finite"),
    ],
)
def test_a_model_that_is_no_encoder_is_refused(own: Path, model: Mapping[str, Any], pooling: str, said: str) -> None:
    """Inputs, outputs, shapes, an alien tokenizer and broken weights are errors that say what was expected."""
    write_model(own, **model)
    with pytest.raises(PluginError, match=said):
        make(own, pooling=pooling).embed("open")


def test_a_model_without_token_ids_is_refused(own: Path) -> None:
    """A model without an input of token ids is refused."""
    graph = helper.make_graph(
        [helper.make_node("Identity", ["attention_mask"], ["y"])], "g",
        [helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["b", "t"])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, ["b", "t"])],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, own / "model.onnx")
    with pytest.raises(PluginError, match="has no input `input_ids`"):
        make(own).embed("open")


def test_without_tokenizers_it_says_what_to_install(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `tokenizers` is missing the error has the command that installs it."""
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(PluginError, match=re.escape(install_command("octoc-embed-onnx[folder]"))):
        make(own).embed("open")


def test_nothing_that_could_download_is_loaded(own: Path) -> None:
    """Encoding loads no hub client, and identity and files load neither onnxruntime nor tokenizers."""
    program = (
        "import json, sys, octoc_embed_onnx as plugin\n"
        f"e = plugin.octoc_make_embedder(name='folder', settings={{'path': {str(own)!r}}}, files=None)\n"
        "e.identity, e.files(); before = set(sys.modules)\n"
        "e.embed('open'); print(json.dumps([sorted(before), sorted(sys.modules)]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, after = map(set, json.loads(done.stdout))
    assert before & {"onnxruntime", "tokenizers", "huggingface_hub"} == set()
    assert after & {"onnxruntime", "tokenizers"} == {"onnxruntime", "tokenizers"}
    assert after & {"huggingface_hub", "httpx", "requests", "urllib3"} == set()


TRIGGERS = {"pulls": ["open pull request", "what pull request"], "clock": ["what time is it", "time"]}


def write_workspace(root: Path, path: str, *, ship: bool = True) -> Path:
    """Write a workspace with two capabilities and an encoder of its own."""
    told = {"path": path, "pooling": "mean", "max_tokens": 32}
    routing = {"encoder": "folder", "gate": "octomind", "ship_encoder": ship, "encoder_settings": told}
    builder = WorkspaceBuilder(root, name="own", routing=routing, plugins={"use": ["embed-onnx"]})
    for name, triggers in TRIGGERS.items():
        builder.capability(name, triggers, server={"command": "true"})
    return builder.write()


def said(outcome: BuildOutcome) -> list[str]:
    """Return what a build says of the encoder."""
    return [
        f"{found.rule.code} {found.message}" for found in outcome.diagnostics if found.rule.code.startswith("OCT70")
    ]


def score(bundle: Path, workspace: Path) -> float:
    """Return how close a message is to its capability, by a runtime in another place."""
    routing = Runtime.open(bundle, workspace=workspace, env={}).session().route("open pull request")
    assert not routing.reason.startswith("no-encoder"), routing.reason
    return routing.scores["pulls"]


@pytest.mark.parametrize("path", ["models/mine", "../mine", "absolute"])
def test_a_bundle_ships_it_and_names_no_path(tmp_path: Path, path: str) -> None:
    """From inside or outside the workspace the files are in the bundle, and it routes where the folder is not."""
    root = tmp_path / "workspace"
    folder = tmp_path / "mine" if path != "models/mine" else root / path
    write_model(folder)
    write_tokenizer(folder)
    write_workspace(root, str(folder) if path == "absolute" else path)
    outcome = build(root)
    assert (said(outcome), outcome.bundle is not None) == ([], True)
    moved = (root / "dist" / "own.octoc").rename(tmp_path / "moved.octoc")
    (folder / "model.onnx").unlink()
    with OpenBundle.open(moved) as opened:
        encoder = opened.bundle.encoder
        assert encoder is not None
        assert (encoder.name, encoder.files) == ("folder", ("model.onnx", "tokenizer.json"))
        assert encoder.settings == {"pooling": "mean", "max_tokens": "32"}
    assert str(tmp_path).encode() not in moved.read_bytes()
    assert score(moved, tmp_path / "elsewhere") > 0.5


def test_a_bundle_without_it_takes_it_from_the_workspace(tmp_path: Path) -> None:
    """With `ship_encoder = false` the bundle has the folder's place in the workspace, wherever that is then."""
    folder = tmp_path / "one" / "models" / "mine"
    write_model(folder)
    write_tokenizer(folder)
    root = write_workspace(tmp_path / "one", "models/mine", ship=False)
    assert said(build(root)) == []
    moved = root.rename(tmp_path / "two")
    bundle = moved / "dist" / "own.octoc"
    with OpenBundle.open(bundle) as opened:
        encoder = opened.bundle.encoder
        assert encoder is not None
        assert encoder.files == ()
        assert encoder.settings["path"] == "${workspaceFolder}/models/mine"
    assert str(tmp_path).encode() not in bundle.read_bytes()
    assert score(bundle, moved) > 0.5
    (moved / "models" / "mine" / "tokenizer.json").unlink()
    routing = Runtime.open(bundle, workspace=moved, env={}).session().route("open pull request")
    assert routing.capability is None
    assert "`mine` has no `tokenizer.json`" in routing.reason


def test_a_bundle_without_it_needs_it_in_the_workspace(tmp_path: Path) -> None:
    """A folder outside that is not shipped would be found on no other machine, so the build says it."""
    write_model(tmp_path / "mine")
    write_tokenizer(tmp_path / "mine")
    root = write_workspace(tmp_path / "workspace", "../mine", ship=False)
    (found,) = said(build(root))
    assert "its folder `../mine` lies outside the workspace" in found
    assert "set `ship_encoder = true`" in found


def test_another_model_in_the_folder_is_another_build(tmp_path: Path) -> None:
    """A build is repeated when a file of the folder changed, and only then; the bundle has the new identity."""
    folder = tmp_path / "models" / "mine"
    write_model(folder)
    write_tokenizer(folder)
    root = write_workspace(tmp_path, "models/mine")
    first = build(root)
    assert (build(root).unchanged, build(root).digest) == (True, first.digest)
    write_model(folder, table=TABLE[:, ::-1].copy())
    second = build(root)
    assert (second.unchanged, second.digest != first.digest) == (False, True)


def test_a_bad_folder_is_a_finding_of_the_build(tmp_path: Path) -> None:
    """What the plugin refuses is an error with its words, and no bundle; allowed to do without, the build has one."""
    root = write_workspace(tmp_path, "models/none")
    assert build(root).bundle is None
    outcome = build(root, allow_degraded=True)
    (found,) = said(outcome)
    assert found.startswith("OCT702 encoder `folder` failed")
    assert "`none` does not exist: set `path`" in found
    assert outcome.bundle is not None
