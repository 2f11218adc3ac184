"""Keep structured content in the form that its tool declares: a program reads it by the output schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from octoc.names import ToolId
from octoc.runtime.results.fit import fit

if TYPE_CHECKING:
    from octoc.results import ToolResult
    from octoc.runtime.state import SessionState
    from octoc.runtime.tools.server_call import Outcome


async def conforming(session: SessionState, index: int, result: ToolResult, fitted: ToolResult) -> Outcome:
    """Return `fitted`, the cut `result` of a tool; with its whole structured content if the cut one is not valid.

    Without an output schema every cut is valid. Raises: BundleFileError.
    """
    loaded = session.loaded
    tool, schema = loaded.catalog[index].id, loaded.catalog.shared_wire(index).get("outputSchema")
    cut = fitted.structured
    if schema is None or result.is_error:
        return fitted
    key = ToolId(tool.server, f"{tool.tool} (output schema)")
    dialect = loaded.kind_of(loaded.servers[tool.server].transport).dialect
    if cut is not None and not await loaded.arguments.problems(key, schema, cut, dialect=dialect):
        return fitted
    texts = await fit(session, attrs.evolve(result, structured=None), tool)
    return attrs.evolve(texts, structured=result.structured)
