"""Files that are watched: whatever happens to them from before they were read is taken over."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path

from octoc.runtime import Runtime
from octoc_serve.served import Served
from octoc_serve.states import Key, MemoryStates
from octoc_serve.watch import Refresher, reload, stamps, watch


def test_what_changed_while_a_file_was_read_is_taken_over(tmp_path: Path) -> None:
    """A bundle that is replaced while the gateway starts is no less new than one replaced later."""
    file, other, missing = (tmp_path / name for name in ("acme.octoc", "tokens.json", "key.pem"))
    for one in (file, other):
        one.write_text("old", encoding="utf-8")
    since = stamps(file, other, missing, None)
    file.write_text("newer", encoding="utf-8")
    missing.write_text("there", encoding="utf-8")
    changed: list[str] = []

    async def scenario() -> None:
        both = asyncio.Event()

        async def note(path: Path) -> None:
            changed.append(path.name)
            if len(changed) == 2:
                both.set()

        files = [(one, lambda one=one: note(one)) for one in (file, other, missing)]
        watching = asyncio.create_task(watch(files, since, asyncio.Event(), poll_s=0.01))
        await both.wait()
        watching.cancel()

    asyncio.run(asyncio.wait_for(scenario(), 30))
    assert changed == ["acme.octoc", "key.pem"]


def test_a_bundle_that_was_replaced_is_let_go(root: Path) -> None:
    """Its file is not mapped for longer than its clients take to go over, though Python collects no garbage."""
    (bundle,) = (root / "dist").glob("*.octoc")

    async def scenario() -> None:
        async with Runtime.open(bundle, workspace=root) as runtime:
            states = MemoryStates(9, None)
            states.get(Key(agent="clerk"), lambda: Served(runtime.session("clerk")))
            refresher = Refresher(runtime, states)
            running = asyncio.create_task(refresher.run())
            before = weakref.ref(runtime.generation)
            assert await reload(runtime, bundle, refresher)
            while runtime.older:  # noqa: ASYNC110  # nothing tells that the client has gone over
                await asyncio.sleep(0.01)
            ending = [task for task in asyncio.all_tasks() if task.get_name() == "octoc end of a bundle"]
            await asyncio.gather(*ending)
            refresher.tidy()
            assert before() is None
            running.cancel()
            await states.end(lambda _: True)

    gc.disable()
    try:
        asyncio.run(asyncio.wait_for(scenario(), 60))
    finally:
        gc.enable()
