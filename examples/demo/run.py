"""The demo: build a workspace on the core tap, route three messages, call two tools, print the token bill.

Run it with `make demo`. Every server it calls is a real one, installed from PyPI beside octoc.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

from octoc.compiler import build
from octoc.plugin import ToolFailure, ToolResult
from octoc.runtime import APPROXIMATE, Runtime, Session

HERE = Path(__file__).resolve().parent
MESSAGES = (
    "which of my branches has commits that are not on main yet?",
    "if it is 3 pm in Lisbon, what time is it for the team in Tokyo?",
    "thanks, that was really helpful!",
)


def main() -> int:
    """Build, then run the conversation. Return the exit status."""
    # The servers' entry points are installed beside the interpreter; a shell that activated the venv has them on PATH.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    outcome = build(HERE)
    if outcome.bundle is None:
        for diagnostic in outcome.diagnostics:
            print(f"{diagnostic.rule.code} {diagnostic.message}", file=sys.stderr)
        return 1
    state = "unchanged" if outcome.unchanged else "built"
    print(f"{state} {outcome.bundle.relative_to(HERE)}: {outcome.size / 1e6:.1f} MB, encoder included\n")
    return asyncio.run(converse(outcome.bundle))


async def converse(bundle: Path) -> int:
    """Route the messages, call two tools, print the bill. Return the exit status."""
    async with Runtime.open(bundle, workspace=HERE) as runtime:
        session = runtime.session()
        every = everything_bound(runtime)
        before = tokens(session)
        for message in MESSAGES:
            routing = await session.on_user_message(message)
            best, score = next(iter(routing.scores.items()))
            decision = f"activates {routing.capability}" if routing.capability else f"abstains: {routing.reason}"
            print(f"{message!r}\n    {decision} (best: {best} {score:.2f}, threshold {routing.threshold:.2f})")
            print(f"    active: {', '.join(session.capabilities)}; {tokens(session)} tokens of schemas")
        print()
        failed = 0
        for name, arguments in calls():
            answer = await session.call(name, arguments)
            failed += not answer.ok
            print(f"{name}({json.dumps(arguments)})\n    {shown(answer)}")
        print(f"\ntokens of tool schemas in each request, counted as {APPROXIMATE.name}:")
        bill = {
            f"without octoc, every tool bound ({len(every)} tools)": sum(map(APPROXIMATE.count, every)),
            "with octoc, nothing active": before,
            f"with octoc, {', '.join(session.capabilities) or 'nothing'} active": tokens(session),
        }
        for what, count in bill.items():
            print(f"    {what:<44}{count:>6}")
    return 1 if failed else 0


def calls() -> list[tuple[str, dict[str, object]]]:
    """Return two calls that this machine can make; without git and a clone, the second one is another tool."""
    zones: dict[str, object] = {"source_timezone": "Europe/Lisbon", "time": "15:00", "target_timezone": "Asia/Tokyo"}
    clone = next((folder for folder in HERE.parents if (folder / ".git").exists()), None)
    if clone is None or shutil.which("git") is None:
        return [("convert_time", zones), ("get_current_time", {"timezone": "Asia/Tokyo"})]
    return [("convert_time", zones), ("git_log", {"repo_path": str(clone), "max_count": 1})]


def everything_bound(runtime: Runtime) -> list[str]:
    """Return each listed tool in the form of a request with all tools."""
    wires = (runtime.opened.tool_wire(index) for index in range(len(runtime.bundle.tools)))
    keys = ("name", "description", "inputSchema")
    return [json.dumps({key: tool[key] for key in keys if key in tool}) for tool in wires]


def tokens(session: Session) -> int:
    """Return the tokens of the session's tool block in each request."""
    return sum(APPROXIMATE.count(json.dumps(tool)) for tool in session.tools())


def shown(answer: ToolResult | ToolFailure, limit: int = 160) -> str:
    """Return the start of an answer, in one line."""
    text = " ".join(answer.text.split())
    return text if len(text) <= limit else text[:limit] + "…"


if __name__ == "__main__":
    sys.exit(main())
