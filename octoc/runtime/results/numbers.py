"""Results with numbers that JSON does not have: a transport of a third party may not have refused them."""

from __future__ import annotations

from octoc.json_limits import check_numbers
from octoc.results import ToolFailure, ToolResult
from octoc.runtime.results.failures import failure
from octoc.runtime.results.parts import is_large


async def refuse_odd_numbers(outcome: ToolResult | ToolFailure, server: str, tool: str) -> ToolResult | ToolFailure:
    """Return a failure in place of a result that has NaN or an infinity; a large result is searched in a thread."""
    if isinstance(outcome, ToolFailure) or (
        outcome.structured is None and all(p.data is None for p in outcome.content)
    ):
        return outcome
    if is_large(outcome):
        import asyncio

        is_odd = await asyncio.to_thread(has_odd_number, outcome)
    else:
        is_odd = has_odd_number(outcome)
    if not is_odd:
        return outcome
    return failure("protocol", f"`{server}` answered `{tool}` with a number that JSON does not have", sent=True)


def has_odd_number(result: ToolResult) -> bool:
    """Return whether the structured content or a part of a result has NaN or an infinity."""
    try:
        check_numbers([result.structured, *(part.data for part in result.content)])
    except ValueError:
        return True
    except RecursionError:
        return False
    return False
