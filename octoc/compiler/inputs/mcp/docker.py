"""Docker's MCP gateway: catalogues with an image or an address for each server, and the list of those that are on.

Seen in the source of version 0.43. `registry.yaml` has a `ref` for each server, whose definition a catalogue has.
"""

import attrs

from octoc.compiler.inputs.mcp.convert import ServerDraft
from octoc.plugin.file_kinds import Dialect

_TYPES = {"streamable-http": "http"}


def _shape(entry: ServerDraft) -> None:
    image, remote = entry.left.pop("image", None), entry.left.pop("remote", None)
    kind = entry.left.pop("type", None)
    command = entry.left.pop("command", [])
    if isinstance(remote, dict) and "url" in remote:
        transport = remote.get("transport_type", "http")
        entry.put("type", _TYPES.get(str(transport), transport), "remote", "transport_type")
        entry.put("url", remote["url"], "remote", "url")
        if isinstance(remote.get("headers"), dict):
            entry.put("headers", remote["headers"], "remote", "headers")
    elif isinstance(image, str) and kind != "poci" and isinstance(command, list):
        entry.put("command", "docker", "image")
        entry.put("args", ["run", "-i", "--rm", image, *command], "image")
    else:
        entry.is_elsewhere = True  # a name of another catalogue, or tools without a server


DOCKER = Dialect(
    kind="mcp",
    name="docker",
    client="Docker's MCP gateway",
    patterns=("catalog.yaml", "catalog.yml", "*-catalog.yaml", "*_catalog.yaml", ".docker/mcp/catalogs/*.yaml"),
    rank=95,
    is_in_project=False,
    syntax="yaml",
    is_settings=True,
    server_list="registry",
    other_keys=("(?:image|transport_type)",),
    infers_transport=True,
    is_lenient=True,
    takes_numbers=True,
    unused=frozenset({
        "name", "description", "title", "icon", "readme", "toolsUrl", "source", "upstream", "longLived", "sseEndpoint",
        "oauth", "secrets", "env", "volumes", "user", "disableNetwork", "allowHosts", "extraHosts", "tools", "config",
        "prefix", "prompts", "resources", "metadata", "policy", "ref", "dateAdded",
    }),
    key_schemas={
        "type": {"description": "What the entry is: `server`, `remote` or `poci`.", "type": "string"},
        "command": {"description": "What the container is given.", "type": "array"},
    },
    shape=_shape,
)  # fmt: skip
DOCKER_REGISTRY = attrs.evolve(
    DOCKER,
    name="docker-registry",
    patterns=("registry.yaml", ".docker/mcp/registry.yaml"),
    rank=96,
    other_keys=("ref",),
    adds_to_others=True,
    unused=DOCKER.unused | {"secrets"},
)
