"""Which distribution brings the transport for a kind of server: the next step of who has none installed."""

from __future__ import annotations

_OF_KIND = {
    **dict.fromkeys(("stdio", "http", "sse"), "octoc-transport-mcp"),
    "rest": "octoc-transport-rest",
}


def no_transport(kind: str) -> str:
    """Return the message, one line, that nothing connects to servers of `kind`, with what to do about it."""
    nobody = f"no installed plugin connects to servers of kind `{kind}`"
    distribution = _OF_KIND.get(kind)
    if distribution is None:
        return nobody
    plugin = distribution.removeprefix("octoc-")
    return f"{nobody}: run `pip install {distribution}`, and see that `[plugins] use` has `{plugin}`"
