"""The page on observability: its example writes a line per call."""

from __future__ import annotations

import asyncio
import io
import json
import re
from pathlib import Path
from typing import Any

from octoc.bundle.model import AgentEntry, Bundle, Settings
from octoc.bundle.writer import write_bundle

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "observability.md").read_text(encoding="utf-8")


def test_the_pages_example_writes_an_audit_line(tmp_path: Path) -> None:
    """The function of the page opens a bundle whose calls are audited, refused ones too."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  # the page's own example
    path = tmp_path / "b.octoc"
    agent = AgentEntry(name="supervisor", kind="octo")
    path.write_bytes(
        write_bundle(
            Bundle(name="b", octoc_version="0", settings=Settings(), agents=(agent,)),
            blobs={"tools": b"", "texts": b""},
            arrays={},
        )
    )
    stream = io.StringIO()

    async def main() -> None:
        async with names["open_audited"](path, stream) as runtime:
            await runtime.session(user="u7").call("nothing")

    asyncio.run(main())
    event = json.loads(stream.getvalue())
    assert (event["user"], event["tool"], event["outcome"]) == ("u7", "nothing", "not_found")
    assert all(f"`{key}`" in PAGE for key in event)
