"""Files that are watched: whatever happens to them from before they were read is taken over."""

from __future__ import annotations

import asyncio
from pathlib import Path

from octoc_serve.watch import stamps, watch


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
