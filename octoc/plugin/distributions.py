"""Which distribution brings the transport for a kind of server."""

from __future__ import annotations

from octoc.installation import install_command

_OF_KIND = {
    **dict.fromkeys(("stdio", "http", "sse"), "octoc-transport-mcp"),
    "rest": "octoc-transport-rest",
}


def no_transport(kind: str, *, for_model: bool = False) -> str:
    """Return the message, one line, that nothing connects to servers of `kind`, with what to do about it.

    Args:
        for_model: name the distribution instead of the command that installs it, which may hold a path.
    """
    problem = f"no installed plugin connects to servers of kind `{kind}`"
    distribution = _OF_KIND.get(kind)
    if distribution is None:
        return problem
    plugin = distribution.removeprefix("octoc-")
    install = f"install `{distribution}`" if for_model else f"run `{install_command(distribution)}`"
    return f"{problem}: {install}, and name `{plugin}` in `[plugins] use`"
