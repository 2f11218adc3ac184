"""What it costs to judge a call's arguments by its tool's schema, against jsonschema alone, on recorded tools."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from referencing import Registry

from benchmarks.measure import ROOT, in_turn, ratio, realworld, row, seconds
from octoc.names import ToolId
from octoc.runtime.arguments.check import ArgumentChecks

ROUNDS = 7
CALLS = 20
RUNS = 7


def example(schema: Any) -> Any:
    """Return a value that most schemas of this kind take: every property, two elements a list."""
    if not isinstance(schema, Mapping):
        return "text"
    if "const" in schema or "enum" in schema or "default" in schema:
        return schema.get("const", schema["enum"][0] if "enum" in schema else schema.get("default"))
    for form in schema.get("anyOf", schema.get("oneOf", ())):
        return example(form)
    match schema.get("type"):
        case "object":
            return {name: example(inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [example(schema.get("items"))] * max(1, schema.get("minItems", 2))
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return "text"


def _errors(validator: Any, arguments: Any) -> list[Any]:
    return list(validator.iter_errors(arguments))


def seconds_a_call(work: Callable[[], object]) -> float:
    """Return the mean over a loop of calls."""
    start = time.perf_counter()
    for _ in range(CALLS):
        work()
    return (time.perf_counter() - start) / CALLS


def main() -> None:
    """Measure and print."""
    real = realworld()
    folder = ROOT / "examples" / "demo" / "snapshots" if real is None else real / "tools"
    checks, loop = ArgumentChecks(), asyncio.new_event_loop()
    ours, bare, first = [], [], []
    refused = 0
    for path in sorted(Path(folder).glob("*.json")):
        for tool in json.loads(path.read_text(encoding="utf-8"))["tools"]:
            schema, name = tool.get("inputSchema") or {}, ToolId(path.stem, tool["name"])
            arguments = example({"type": "object", **schema})
            begun = time.perf_counter()
            refused += bool(loop.run_until_complete(checks.problems(name, schema, arguments)))
            first.append(time.perf_counter() - begun)
            known = checks._tools.get(name)  # noqa: SLF001  # the time of the loop around it is not what is measured
            if known is None or known.compiled is None:
                continue
            compiled, judge = known.compiled, checks._validator  # noqa: SLF001  # likewise
            alone: Any = validator_for(schema, default=Draft202012Validator)(schema, registry=Registry())
            judged, listed = partial(judge.errors, compiled, arguments), partial(_errors, alone, arguments)
            ours.append(min(seconds_a_call(judged) for _ in range(ROUNDS)))
            bare.append(min(seconds_a_call(listed) for _ in range(ROUNDS)))
    loop.close()
    print(f"{len(ours)} recorded tools, an example call of each; {refused} examples do not fit")
    row("judging a call", ours, "us", 1e6)
    row("jsonschema alone", bare, "us", 1e6)
    ratio("judging / jsonschema alone", ours, bare)
    row("the first call of a tool, its schema made ready", first, "us", 1e6)
    python = sys.executable
    without, loaded = in_turn(
        RUNS,
        lambda: seconds([python, "-c", "import asyncio, octoc.runtime"]),
        lambda: seconds([python, "-c", "import asyncio, octoc.runtime, jsonschema, re2"]),
    )
    row("packages that the first call of a runtime loads", [b - a for a, b in zip(without, loaded, strict=True)])


if __name__ == "__main__":
    main()
