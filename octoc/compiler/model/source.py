"""Product of structure: what the files say, each as a frozen model, nothing looked up across files yet."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from octoc.bundle.address import ServerAddress
from octoc.choices import AgentKind, AgentRole
from octoc.compiler.model.documents import Comment, DefaultLink, SkillFolder
from octoc.compiler.model.located import (
    KEY,
    MANIFEST,
    MARKDOWN,
    OWN_NAME,
    Lines,
    Located,
    NamesByComma,
    NamesBySpace,
    Stripped,
)
from octoc.compiler.model.scopes import ScopeTables
from octoc.diagnostics.model import KeyPath, Place
from octoc.plugin.file_kinds import Dialect
from octoc.results import ServerListing
from octoc.routing.fixtures import NOTHING


@attrs.frozen(kw_only=True)
class ServerSource(ServerAddress):
    """One definition of an MCP server, whatever dialect it came from.

    Values are as written, references unresolved, secrets still in place: only `resolve` sees and replaces them.
    `include` None is every tool and `()` no tool (`include_tools`, `toolFilter`; Octomind's `tools = []` is
    None).
    `timeout_s` None is the default of 30 s. `written` has the keys of the file where they differ, both as paths from
    the definition on: `("env",)` -> `("environment",)`.
    """

    place: Place
    timeout_s: float | None = None
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    disabled: bool = False
    written: Mapping[KeyPath, KeyPath] = attrs.field(factory=dict, eq=False, repr=False)


@attrs.frozen(kw_only=True)
class McpFileSource:
    """One file of the kind `mcp`. `inputs` are the ids that it declares."""

    place: Place
    dialect: Dialect
    servers: tuple[ServerSource, ...]
    inputs: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class ConfigSource:
    """`config.toml` of a capability. Triggers are trimmed, empty ones dropped (and reported)."""

    place: Place
    triggers: tuple[Located[str], ...] = ()
    domains: tuple[Located[str], ...] = ()


@attrs.frozen(kw_only=True)
class ProviderSource:
    """One provider file of a capability. `allowed_tools` None is absent; `()` is `[]`; both mean every tool."""

    name: str
    place: Place
    title: str = ""
    description: str = ""
    server_refs: tuple[Located[str], ...] | None = attrs.field(
        default=None, metadata={KEY: ("roles", "mcp", "server_refs")}
    )
    allowed_tools: tuple[Located[str], ...] | None = attrs.field(
        default=None, metadata={KEY: ("roles", "mcp", "allowed_tools")}
    )
    servers: tuple[ServerSource, ...] = attrs.field(default=(), metadata={KEY: ("mcp", "servers")})
    deps: tuple[Located[str], ...] = attrs.field(default=(), metadata={KEY: ("deps", "require")})


@attrs.frozen(kw_only=True)
class CapabilitySource:
    """A capability's folder in one tap. `default` is the provider that `default.toml` links to, if it is a link.

    `has_config`: the folder has a `config.toml`; `config` is None when it is unsound.
    """

    name: str
    tap: str
    place: Place
    config: ConfigSource | None = None
    has_config: bool = False
    providers: Mapping[str, ProviderSource] = attrs.field(factory=dict)
    default: DefaultLink | None = None

    @property
    def adds_triggers(self) -> bool:
        """Whether the folder has only a `config.toml`, whose triggers are for another tap's capability."""
        return self.has_config and not self.providers and self.default is None


@attrs.frozen(kw_only=True)
class AgentSource:
    """An agent of any origin.

    `tools` and `skills` None are absent (inherit); `()` is an empty list (none). `domain` only for `octomind`: the part
    before `:`.
    `inline_servers` are Claude's `mcpServers` entries that define a server, `server_refs` those that only name one
    (and Octomind's `roles.mcp.server_refs`); `allowed_tools` is Octomind's, for a manifest with servers of its own.
    `role_name` is the name that a manifest's role gives; it has no effect, since the manifest's path names the agent.
    """

    name: str
    kind: AgentKind
    place: Place
    type: Stripped = attrs.field(default="", metadata={MARKDOWN: ("type",)})
    domain: str | None = None
    role_name: Located[str] | None = attrs.field(default=None, metadata={MANIFEST: ("roles", 0, "name")})
    title: str = ""
    description: Stripped = attrs.field(default="", metadata={MARKDOWN: ("description",)})
    model: Stripped = attrs.field(default="", metadata={MARKDOWN: ("model",)})
    tools: NamesByComma | None = attrs.field(default=None, metadata={MARKDOWN: ("tools",)})
    resources: NamesByComma = attrs.field(default=(), metadata={MARKDOWN: ("resources",)})
    prompts: NamesByComma = attrs.field(default=(), metadata={MARKDOWN: ("prompts",)})
    disallowed_tools: NamesByComma = attrs.field(default=(), metadata={MARKDOWN: ("disallowedTools",)})
    capabilities: tuple[Located[str], ...] = attrs.field(default=(), metadata={MANIFEST: ("capabilities",)})
    inline_servers: tuple[ServerSource, ...] = attrs.field(default=(), metadata={MANIFEST: ("mcp", "servers")})
    server_refs: tuple[Located[str], ...] = attrs.field(
        default=(), metadata={MANIFEST: ("roles", 0, "mcp", "server_refs")}
    )
    allowed_tools: tuple[Located[str], ...] | None = attrs.field(
        default=None, metadata={MANIFEST: ("roles", 0, "mcp", "allowed_tools")}
    )
    deps: tuple[Located[str], ...] = attrs.field(default=(), metadata={MANIFEST: ("deps", "require")})
    skills: NamesByComma | None = attrs.field(default=None, metadata={MARKDOWN: ("skills",)})
    sampling: Mapping[str, float] = attrs.field(factory=dict)
    welcome: str = attrs.field(default="", metadata={MANIFEST: ("roles", 0, "welcome")})
    prompt: str = attrs.field(default="", metadata={MANIFEST: ("roles", 0, "system")})
    tap: str | None = None
    folder: str = ""


@attrs.frozen(kw_only=True)
class SkillSource:
    """One SKILL.md. `rules` are the activation rules as written, one a line."""

    name: str
    place: Place
    tap: str
    title: Stripped = ""
    description: Stripped = ""
    license: Stripped = ""
    compatibility: Stripped = ""
    domains: NamesBySpace = ()
    rules: Lines = ()
    capabilities: NamesBySpace = ()
    allowed_tools: NamesBySpace = attrs.field(default=(), metadata={KEY: ("allowed-tools",)})
    body: str = ""
    folder: SkillFolder | None = None


@attrs.frozen(kw_only=True)
class SnapshotSource:
    """A recorded `tools/list`. `definition` is the digest of the server definition it was recorded from.

    `indexes` are the tools' places in the file's list, where check has cut some of them; empty is their own order.
    Of a builtin server, whose tools a plugin has, `roles` are the agents that have a tool directly, and `seconds` the
    time limits of tools.
    """

    server: str
    place: Place
    definition: str
    package: str | None = None
    listing: ServerListing
    digest: str
    indexes: tuple[int, ...] = ()
    roles: Mapping[str, tuple[AgentRole, ...]] = attrs.field(factory=dict)
    seconds: Mapping[str, float] = attrs.field(factory=dict)

    def place_of(self, index: int) -> Place:
        """Return where the tool `listing.tools[index]` stands in the file."""
        return self.place.child("tools", self.indexes[index] if self.indexes else index)


@attrs.frozen(kw_only=True)
class PermissionsSource:
    """The permission rules of a client's settings, in the order of their lists."""

    place: Place
    rules: tuple[Located[str], ...] = ()


def _capabilities(names: tuple[Located[str], ...]) -> tuple[Located[str], ...]:
    return tuple(name for name in names if name.value != NOTHING)


@attrs.frozen(kw_only=True)
class MessageSource:
    """One `[[message]]` of a file of fixtures. `expect` is empty for `none`; `agent` None means any agent."""

    place: Place
    text: str
    expect: tuple[Located[str], ...] = attrs.field(default=(), converter=_capabilities)
    before: tuple[str, ...] = ()
    agent: Located[str] | None = None
    note: Stripped = ""


@attrs.frozen(kw_only=True)
class QuerySource:
    """One `[[search]]` of a file of fixtures. `tools` are `server/tool`; `agent` None means any agent."""

    place: Place
    query: str
    tools: tuple[Located[str], ...] = ()
    agent: Located[str] | None = None
    note: Stripped = ""


@attrs.frozen(kw_only=True)
class FixturesSource:
    """One file of fixtures, in its order."""

    place: Place
    messages: tuple[MessageSource, ...] = attrs.field(default=(), metadata={KEY: ("message",)})
    queries: tuple[QuerySource, ...] = attrs.field(default=(), metadata={KEY: ("search",)})


@attrs.frozen(kw_only=True)
class NeedSource:
    """A need of the workspace's own: `about` in a sentence, `says` as people put it."""

    place: Place
    name: str = attrs.field(metadata={KEY: OWN_NAME})
    about: Stripped
    says: tuple[str, ...]


@attrs.frozen(kw_only=True)
class ExpansionSource:
    """What plugins said for a capability, without the texts that users deleted.

    `triggers` is the digest of what plugins received, `answered` has the digests of all texts that they ever returned.
    """

    place: Place
    capability: str = attrs.field(metadata={KEY: OWN_NAME})
    triggers: str
    answered: tuple[str, ...] = ()
    says: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Sources:
    """Product of structure. Every list is in (precedence, path) order: workspace files first, then taps."""

    mcp_files: tuple[McpFileSource, ...] = ()
    capabilities: tuple[CapabilitySource, ...] = ()
    agents: tuple[AgentSource, ...] = ()
    skills: tuple[SkillSource, ...] = ()
    snapshots: tuple[SnapshotSource, ...] = ()
    permissions: tuple[PermissionsSource, ...] = ()
    fixtures: tuple[FixturesSource, ...] = ()
    needs: tuple[NeedSource, ...] = ()
    expansions: tuple[ExpansionSource, ...] = ()
    background: tuple[str, ...] = ()
    """Texts for no capability, beside those that ship."""
    scopes: ScopeTables = attrs.field(factory=ScopeTables)
    scopes_unsound: bool = False
    """Whether some table of scopes could not be read, so that what it withholds is unknown."""
    comments: Mapping[str, tuple[Comment, ...]] = attrs.field(factory=dict)
    """Display path -> comments of a TOML file that has some; see `Document.comments`."""
