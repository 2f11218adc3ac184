"""Goose's extensions: an object in `config.yaml` of a user, a list in a recipe. Seen in the source of Goose 1.20.

Goose skips an entry without `args` or `enabled`, and no longer connects `sse`.
"""

import attrs

from octoc.compiler.inputs.mcp.convert import ServerDraft, seconds
from octoc.plugin.file_kinds import Dialect

_OWN = ("builtin", "platform", "frontend", "inline_python")


def _shape(entry: ServerDraft) -> None:
    kind = entry.left.get("type")
    if kind in _OWN:
        entry.is_elsewhere = True  # a part of Goose itself
        return
    if kind == "streamable_http":
        entry.put("type", "http", "type")
        del entry.left["type"]
    seconds(entry, "timeout")
    tools = entry.left.pop("available_tools", None)
    if tools:
        entry.put("include_tools", tools, "available_tools")
    entry.rename("envs", "env")
    entry.add_references("env_keys", "env")


GOOSE = Dialect(
    kind="mcp",
    name="goose",
    client="Goose",
    patterns=(".config/goose/config.yaml", "goose/config.yaml"),
    rank=32,
    is_in_project=False,
    syntax="yaml",
    is_settings=True,
    server_list="extensions",
    infers_transport=True,
    is_lenient=True,
    takes_numbers=True,
    requires={"": ("enabled",), "cmd": ("args",)},
    renames={"cmd": "command", "uri": "url"},
    unused=frozenset({"name", "description", "display_name", "bundled"}),
    key_schemas={
        "type": {"description": "How Goose connects, or the name of a part of Goose.", "type": "string"},
        "timeout": {"description": "Time limit of one call in seconds.", "type": ["number", "null"]},
    },
    shape=_shape,
    hints={"command": "call it `cmd`", "env": "call it `envs`", "url": "call it `uri`"},
    secret_advice="name the variable in `env_keys`",
)
GOOSE_RECIPE = attrs.evolve(
    GOOSE,
    name="goose-recipe",
    patterns=("recipe.yaml", "*.recipe.yaml", ".goose/recipes/*.yaml", "recipes/*.yaml"),
    rank=33,
    is_list=True,
    other_keys=("title",),
    requires={"cmd": ("args",)},
)
