"""The laws of history, in each of the five shapes, over made-up conversations and their ruins."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.runtime.history import (
    INTERRUPTED,
    SHAPES,
    Fifo,
    FittedConversation,
    Pruner,
    SlidingWindow,
    Summarize,
    age,
    fit,
    message_tokens,
    repair,
    shape_of,
)
from octoc.tokens import APPROXIMATE

Messages = list[dict[str, Any]]
EVERY_SHAPE = pytest.mark.parametrize("name", list(SHAPES))
OF_EACH = settings(max_examples=40)  # two hundred conversations a law, as the shapes are five ways to write the same


@attrs.frozen(kw_only=True)
class Piece:
    """One step of a conversation: a message, or calls of the model with their results."""

    kind: str
    text: str = ""
    results: tuple[str, ...] = ()
    image: bool = False
    goes_on: bool = False


_TEXTS = st.text("abc é\U0001f600", min_size=1, max_size=12)
_RESULTS = st.lists(
    st.builds(str.__mul__, st.sampled_from(["r", "é "]), st.sampled_from([1, 40, 2500, 5000])), min_size=1, max_size=3
)
_PIECES = st.lists(
    st.one_of(
        st.builds(Piece, kind=st.sampled_from(["user", "user", "assistant", "system"]), text=_TEXTS),
        st.builds(
            Piece,
            kind=st.just("calls"),
            text=st.one_of(st.just(""), _TEXTS),
            results=_RESULTS.map(tuple),
            image=st.booleans(),
            goes_on=st.booleans(),
        ),
    ),
    max_size=14,
).map(lambda pieces: [Piece(kind="user", text="begin"), *pieces])


@attrs.define
class Writer:
    """Writes pieces down in one shape; `own` are the messages with which a turn of the user begins."""

    name: str
    messages: Messages = attrs.field(factory=list)
    own: list[int] = attrs.field(factory=list)
    ids: itertools.count[int] = attrs.field(factory=itertools.count)

    def write(self, pieces: Sequence[Piece]) -> Writer:
        for piece in pieces:
            if piece.kind == "calls":
                self.calls(piece)
            else:
                self.says(piece.kind, piece.text)
        return self

    def says(self, role: str, text: str) -> None:
        if role == "user":
            self.own.append(len(self.messages))
        message: dict[str, Any] = {"role": role, "content": text}
        if self.name == "openai-responses":
            kind = "output_text" if role == "assistant" else "input_text"
            message = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        elif self.name == "mcp":
            message["content"] = [{"type": "text", "text": text}]
        self.messages.append(message)

    def calls(self, piece: Piece) -> None:
        calls = [(f"call{next(self.ids)}", {"x": number}, result) for number, result in enumerate(piece.results)]
        {"anthropic": self._blocks, "mcp": self._blocks, "openai-responses": self._items}.get(self.name, self._chat)(
            piece, calls
        )

    def _blocks(self, piece: Piece, calls: list[tuple[str, Any, str]]) -> None:
        anthropic = self.name == "anthropic"
        key = "tool_use_id" if anthropic else "toolUseId"
        said = [{"type": "text", "text": piece.text}] if piece.text else []
        made = [{"type": "tool_use", "id": one, "name": "t", "input": arguments} for one, arguments, _ in calls]
        image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
        if anthropic:
            image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}  # type: ignore[dict-item]
        results: list[dict[str, Any]] = []
        for one, _, result in calls:
            parts = [{"type": "text", "text": result}] + ([image] if piece.image else [])
            results.append(
                {"type": "tool_result", key: one, "content": parts if piece.image or not anthropic else result}
            )
        self.messages.append({"role": "assistant", "content": [*said, *made]})
        if anthropic and piece.goes_on:
            self.own.append(len(self.messages))
            results.append({"type": "text", "text": "and more"})
        self.messages.append({"role": "user", "content": results})

    def _chat(self, piece: Piece, calls: list[tuple[str, Any, str]]) -> None:
        made: list[dict[str, Any]] = [{"id": one, "name": "t", "input": arguments} for one, arguments, _ in calls]
        if self.name == "openai":
            made = [
                {"id": one, "type": "function", "function": {"name": "t", "arguments": json.dumps(arguments)}}
                for one, arguments, _ in calls
            ]
        self.messages.append({"role": "assistant", "content": piece.text or None, "tool_calls": made})
        self.messages += [{"role": "tool", "tool_call_id": one, "content": result} for one, _, result in calls]

    def _items(self, piece: Piece, calls: list[tuple[str, Any, str]]) -> None:
        if piece.goes_on:
            self.messages.append({"type": "reasoning", "id": f"rs{next(self.ids)}", "summary": []})
        if piece.text:
            self.says("assistant", piece.text)
        for one, sent, _ in calls:
            arguments = json.dumps(sent)
            self.messages.append({"type": "function_call", "call_id": one, "name": "t", "arguments": arguments})
        for one, _, result in calls:
            self.messages.append({"type": "function_call_output", "call_id": one, "output": result})


def conversations(name: str) -> st.SearchStrategy[Writer]:
    """Return a strategy for whole conversations in one shape."""
    return _PIECES.map(lambda pieces: Writer(name).write(pieces))


# What the APIs ask of a list, read from their documentation and not from the program. Each returns what is wrong.


def _wrong_in_blocks(name: str, messages: Messages) -> str:
    key = "tool_use_id" if name == "anthropic" else "toolUseId"
    talk = [message for message in messages if message["role"] != "system"]
    if name == "anthropic" and talk and talk[0]["role"] != "user":
        return "the first message is not the user's"
    open_calls: list[str] = []
    seen: set[str] = set()
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        if not message["content"]:
            return "an empty message"
        kinds = [block["type"] for block in blocks]
        results = [block[key] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(open_calls) or (results and message["role"] != "user"):
            return f"calls {open_calls} are followed by results {results}"
        if kinds[: len(results)] != ["tool_result"] * len(results) or (
            name == "mcp" and results and set(kinds) != {"tool_result"}
        ):
            return "results stand behind something else"
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(open_calls)) < len(open_calls) or seen.intersection(open_calls) or "" in open_calls:
            return "an id is there twice"
        seen.update(open_calls)
    return f"no results for {open_calls}" if open_calls else ""


def _wrong_in_chat(name: str, messages: Messages) -> str:
    open_calls: set[str] = set()
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"a result of {message['tool_call_id']} that nothing waits for"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"no results for {open_calls}"
        calls = [call["id"] for call in message.get("tool_calls", ())]
        if not calls and ("tool_calls" in message or not message["content"]):
            return "an empty message"
        if len(set(calls)) < len(calls) or seen.intersection(calls) or "" in calls:
            return "an id is there twice"
        seen.update(calls)
        open_calls = set(calls)
    return f"no results for {open_calls}" if open_calls else ""


def _wrong_in_items(name: str, messages: Messages) -> str:
    open_calls: set[str] = set()
    seen: set[str] = set()
    thinks = False
    for item in messages:
        models = item["type"] in {"reasoning", "function_call"} or item.get("role") == "assistant"
        if thinks and not models:
            return "reasoning that leads to nothing"
        thinks = item["type"] == "reasoning"
        if item["type"] == "function_call":
            if item["call_id"] in seen or not item["call_id"]:
                return "an id is there twice"
            seen.add(item["call_id"])
            open_calls.add(item["call_id"])
        elif item["type"] == "function_call_output":
            if item["call_id"] not in open_calls:
                return "a result that nothing waits for"
            open_calls.remove(item["call_id"])
        elif item.get("role") == "user" and open_calls:
            return "the user speaks between a call and its result"
    return "reasoning that leads to nothing" if thinks else f"no results for {open_calls}" if open_calls else ""


def wrong(name: str, messages: Messages) -> str:
    """Return what the shape's API would refuse in a list, empty when nothing."""
    checks: dict[str, Callable[[str, Messages], str]] = {
        "anthropic": _wrong_in_blocks,
        "mcp": _wrong_in_blocks,
        "openai-responses": _wrong_in_items,
    }
    return checks.get(name, _wrong_in_chat)(name, messages)


# Pruning

_PRUNERS: st.SearchStrategy[Pruner] = st.one_of(
    st.just(Fifo()),
    st.builds(SlidingWindow, turns=st.integers(1, 5)),
    st.sampled_from(["short", "", "x" * 30_000]).map(lambda text: Summarize(summarizer=lambda _: text)),
)


def total(name: str, messages: Messages) -> int:
    """Return what all messages cost."""
    return sum(message_tokens(message, SHAPES[name], APPROXIMATE) for message in messages)


def fitted(name: str, messages: Messages, budget: int, pruner: Pruner, keep_turns: int = 3) -> FittedConversation:
    """Fit a list, in an event loop of its own."""
    shape = SHAPES[name]
    return asyncio.run(fit(messages, budget, APPROXIMATE, pruner=pruner, keep_turns=keep_turns, shape=shape))


@EVERY_SHAPE
@OF_EACH
@given(st.data())
def test_pruning_keeps_what_it_must(name: str, data: st.DataObject) -> None:
    """No group is split, order stays, system messages, the last requests and the last group stay; the API takes it."""
    made = data.draw(conversations(name))
    messages, own = made.messages, made.own
    keep_turns = data.draw(st.integers(1, 4))
    before = copy.deepcopy(messages)
    all_tokens = total(name, messages)
    done = fitted(name, messages, data.draw(st.integers(0, all_tokens + 5)), data.draw(_PRUNERS), keep_turns)
    assert messages == before
    places = {id(message): place for place, message in enumerate(messages)}
    kept = [places[id(message)] for message in done.messages if id(message) in places]
    assert kept == sorted(kept)
    assert len(done.messages) - len(kept) == bool(done.summarized)
    assert wrong(name, done.messages) == ""
    assert {place for place, message in enumerate(messages) if message.get("role") == "system"} <= set(kept)
    assert {*own[-keep_turns:], len(messages) - 1} <= set(kept)
    gone = [index for group in (*done.dropped, *done.summarized) for index in group]
    assert sorted([*gone, *kept]) == list(range(len(messages)))


@EVERY_SHAPE
@OF_EACH
@given(st.data())
def test_pruning_meets_the_budget_or_says_why_not(name: str, data: st.DataObject) -> None:
    """Pruning fits the budget with the stated costs or states why not, and a list within the budget stays."""
    made = data.draw(conversations(name))
    messages, own = made.messages, made.own
    all_tokens = total(name, messages)
    budget = data.draw(st.integers(0, all_tokens + 5))
    pruner = data.draw(_PRUNERS)
    done = fitted(name, messages, budget, pruner)
    assert done.tokens_before == all_tokens
    assert done.tokens == total(name, done.messages)
    assert done.fits == (done.tokens <= budget) == (not done.why_over)
    if all_tokens <= budget and not isinstance(pruner, SlidingWindow):
        assert done.messages == messages
    if not done.fits:
        kept_from = own[-3] if len(own) >= 3 else 0
        gone = {index for group in (*done.dropped, *done.summarized) for index in group}
        early = [message for place, message in enumerate(messages[:kept_from]) if place not in gone]
        shape = SHAPES[name]
        # What is left of the part that could go: system messages, and a group that reaches into the last turns.
        talk = [message for message in early if message.get("role") != "system"]
        if name != "anthropic":
            assert talk == []
        else:
            first_kept = messages[kept_from]
            assert talk == [] or shape.answers(first_kept)


@EVERY_SHAPE
@OF_EACH
@given(st.data())
def test_fifo_drops_no_more_than_it_needs(name: str, data: st.DataObject) -> None:
    """With the last dropped group back the list is over its budget, or begins as its API does not want."""
    made = data.draw(conversations(name))
    budget = data.draw(st.integers(0, total(name, made.messages)))
    done = fitted(name, made.messages, budget, Fifo())
    if done.dropped and done.fits:
        gone = {index for group in done.dropped[:-1] for index in group}
        more = [message for place, message in enumerate(made.messages) if place not in gone]
        assert total(name, more) > budget or wrong(name, more)


@EVERY_SHAPE
@OF_EACH
@given(st.data())
def test_pruning_again_changes_nothing(name: str, data: st.DataObject) -> None:
    """What fits a budget is left as it is the next time."""
    made = data.draw(conversations(name))
    budget = data.draw(st.integers(0, total(name, made.messages)))
    once = fitted(name, made.messages, budget, Fifo())
    assert fitted(name, once.messages, budget, Fifo()).messages == once.messages


# Repair


def _blocks_of(message: dict[str, Any]) -> list[Any]:
    for key in ("content", "tool_calls"):
        if isinstance(message.get(key), list):
            return list(message[key])
    return []


def _damaged(draw: Callable[[st.SearchStrategy[Any]], Any], messages: Messages) -> Messages:
    """Delete, repeat, move and swap messages and blocks, and mix up ids."""
    out: Messages = copy.deepcopy(messages)
    for _ in range(draw(st.integers(0, 6))):
        if not out:
            break
        place, other = draw(st.integers(0, len(out) - 1)), draw(st.integers(0, len(out) - 1))
        match draw(st.sampled_from(["delete", "repeat", "same", "move", "cut", "drop", "double", "id", "empty"])):
            case "delete":
                del out[place]
            case "repeat":
                out.insert(other, copy.deepcopy(out[place]))
            case "same":
                out.insert(other, out[place])
            case "move":
                out.insert(other, out.pop(place))
            case "cut":
                out = out[place:]
            case "drop" if _blocks_of(out[place]):
                _change_blocks(out, place, lambda blocks: blocks[1:])
            case "double" if _blocks_of(out[place]):
                _change_blocks(out, place, lambda blocks: [*blocks, blocks[0]])
            case "id":
                out[place] = _with_id(out[place], draw(st.sampled_from(["", "call0", "call1", "unknown"])))
            case "empty" if out[place].get("role", "tool") != "tool" and "tool_calls" not in out[place]:
                out[place] = {**out[place], "content": ""}
    return out


def _change_blocks(messages: Messages, place: int, change: Callable[[list[Any]], list[Any]]) -> None:
    message = messages[place]
    key = "content" if isinstance(message.get("content"), list) else "tool_calls"
    messages[place] = {**message, key: change(message[key])}


def _with_id(message: dict[str, Any], name: str) -> dict[str, Any]:
    changed = copy.deepcopy(message)
    things = [changed, *_blocks_of(changed)]
    for thing in things:
        for key in ("id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"):
            if key in thing:
                thing[key] = name
                return changed
    return changed


@EVERY_SHAPE
@OF_EACH
@given(st.data())
def test_repair_makes_any_ruin_sound(name: str, data: st.DataObject) -> None:
    """Whatever was done to a conversation, its API takes what repair returns, and repairing that changes nothing."""
    made = data.draw(conversations(name))
    ruin = _damaged(data.draw, made.messages)
    before = copy.deepcopy(ruin)
    repaired = repair(ruin, SHAPES[name])
    assert ruin == before
    assert wrong(name, repaired.messages) == ""
    again = repair(repaired.messages, SHAPES[name])
    assert again.messages == repaired.messages
    assert again.repairs == ()
    assert bool(repaired.repairs) or repaired.messages == ruin


@EVERY_SHAPE
@OF_EACH
@given(st.data())
def test_repair_leaves_a_sound_conversation_alone(name: str, data: st.DataObject) -> None:
    """A conversation that is as it should be comes back message by message, each the very same."""
    made = data.draw(conversations(name))
    repaired = repair(made.messages, SHAPES[name])
    assert repaired.repairs == ()
    assert all(one is other for one, other in zip(repaired.messages, made.messages, strict=True))


@EVERY_SHAPE
@OF_EACH
@given(st.data())
def test_repair_loses_no_result_of_a_call_that_is_there(name: str, data: st.DataObject) -> None:
    """Shuffled messages keep every text and every result."""
    made = data.draw(conversations(name))
    shuffled = data.draw(st.permutations(made.messages))
    repaired = repair(shuffled, SHAPES[name]).messages
    shape = SHAPES[name]

    def results(messages: Messages) -> list[str]:
        return sorted(answer.text for message in messages for answer in shape.answers(message))

    assert results(repaired) == results(made.messages)
    assert INTERRUPTED not in results(repaired)


# Ageing


@EVERY_SHAPE
@OF_EACH
@given(st.data())
def test_ageing_shortens_old_results_once(name: str, data: st.DataObject) -> None:
    """Only long results before the last ten messages get shorter, their whole text is kept, and that is done once."""
    made = data.draw(conversations(name))
    shape = SHAPES[name]
    profile = data.draw(st.sampled_from(["octoc", "octo"]))
    kept: dict[str, str] = {}

    def keep(text: str, tool: str) -> str:
        assert tool == "t"
        kept[f"r-{len(kept)}"] = text
        return f"r-{len(kept) - 1}"

    aged = age(made.messages, shape, keep, profile=profile)
    old = len(made.messages) - 10
    for place, (before, after) in enumerate(zip(made.messages, aged.messages, strict=True)):
        for one, other in zip(shape.answers(before), shape.answers(after), strict=True):
            assert other.id == one.id
            if place < old and len(one.text) > 4000:
                assert len(other.text) <= 4000
                assert other.text[:3800] == one.text[:3800]
                assert aged.handles[one.id] in other.text
                assert kept[aged.handles[one.id]] == one.text
            else:
                assert other.text == one.text
    assert wrong(name, aged.messages) == ""
    again = age(aged.messages, shape, keep, profile=profile)
    assert again.messages == aged.messages
    assert again.handles == {}


@EVERY_SHAPE
@OF_EACH
@given(st.data())
def test_the_shape_is_found(name: str, data: st.DataObject) -> None:
    """A conversation with a call and its result is known for what it is, whatever else is in it."""
    made = data.draw(conversations(name))
    if any(SHAPES[name].answers(message) for message in made.messages):
        assert shape_of(made.messages).name == name
