"""Slow modules are imported in a thread, and each call waits until they are complete."""

from __future__ import annotations

import subprocess
import sys

CALLS = """
import asyncio, sys, threading, time

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("jsonschema", "referencing"):
            threads.add(threading.current_thread() is threading.main_thread())
            time.sleep(0.002)
        return None

threads = set()
sys.meta_path.insert(0, Slow())
from octoc.names import ToolId
from octoc.runtime.arguments.check import ArgumentChecks

async def main():
    checks, schema = ArgumentChecks(), {"type": "object", "required": ["a"]}

    async def call(number):
        await asyncio.sleep(number / 500)
        return await checks.problems(ToolId("s", "t"), schema, {})

    found = await asyncio.gather(*map(call, range(20)))
    print(threads, sum(map(len, found)))

asyncio.run(main())
"""


def test_calls_wait_for_an_import_that_another_call_began() -> None:
    """Calls that arrive while jsonschema is being imported import no part of it, and each is checked."""
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{False} 20"
