"""Products of resolve, scope, describe, embed and calibrate: things that know each other, ready to be emitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from octoc.bundle.model import Encoder, Gate, Registry, ServerDefinition, ToolPolicy
from octoc.bundle.offers import Offers
from octoc.bundle.serve_settings import ServeSettings
from octoc.choices import AgentRole
from octoc.compiler.calibrate.needs.library import Need
from octoc.compiler.model.documents import Program
from octoc.compiler.model.located import Located
from octoc.compiler.model.scopes import ReachStep, Scopes
from octoc.compiler.model.source import AgentSource, SkillSource, SnapshotSource
from octoc.diagnostics.model import Place
from octoc.names import ToolId
from octoc.results import ListedOffer, ListedTool
from octoc.routing.fixtures import Fixtures

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from octoc.bundle.writer import Parts
    from octoc.plugin import Embedder


@attrs.frozen
class PackageVersion:
    """The version of a package that a server runs, empty if it is not known, and its registry's hashes, sorted.

    `spec` is the argument that names the package without an exact version; empty where the command has one.
    """

    name: str
    spec: str = ""
    version: str = ""
    hashes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Server(ServerDefinition):
    """A server of the bundle, its name final, literal secrets replaced by references.

    `tools` are the snapshot's, after the server's own filter; `snapshot` None is unlisted. `policies` are what
    octoc.toml sets of single tools.
    `requires_env` are the variables without default that it needs, sorted. `foreign` are the references of a tap's
    server to files and to credentials of other services, sorted.
    `open`: defined in a file of `[mcp] files`, so that an agent with the proxy sees all its tools, not only those
    that a capability grants. `private_to` are agents whose own files define it; `private`: no other file does.
    """

    place: Place
    package: str | None = None
    package_version: PackageVersion | None = None
    requires_env: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    snapshot: SnapshotSource | None = None
    tools: tuple[ListedTool, ...] = ()
    open: bool = False
    private_to: tuple[str, ...] = ()
    private: bool = False
    policies: tuple[ToolPolicy, ...] = ()

    @property
    def listed(self) -> bool:
        """Whether its tools are known at build time."""
        return self.snapshot is not None

    @property
    def offers(self) -> tuple[ListedOffer, ...]:
        """Its recorded resources, templates and prompts."""
        return () if self.snapshot is None else self.snapshot.listing.offers

    @property
    def features(self) -> tuple[str, ...]:
        """What it was recorded to support, as `ServerListing.features`."""
        return () if self.snapshot is None else self.snapshot.listing.features

    @property
    def roles(self) -> Mapping[str, tuple[AgentRole, ...]]:
        """Its tools that only some types of agents have, and these directly."""
        return {} if self.snapshot is None else self.snapshot.roles


@attrs.frozen(kw_only=True)
class ServerGrant:
    """What is granted of one server: globs over bare names (`("*",)` is all), and the recorded tools they match."""

    server: str
    globs: tuple[str, ...]
    tools: tuple[ToolId, ...] = ()


@attrs.frozen(kw_only=True)
class Capability:
    """A capability with its provider chosen and its patterns resolved.

    `name` is bare, or `<tap>/<name>` where an earlier tap has the bare name and agents prefer or select this tap's.
    `closed`: its `config.toml` is unsound, so its domains are unknown, and no agent may activate it.
    `servers_left_out`: its provider names servers, and none of them can be used.
    `reserved`: neither a message nor the model activates it; an agent's file names it, or the host activates it.
    """

    name: str
    tap: str
    provider: str
    place: Place
    title: str = ""
    description: str = ""
    domains: tuple[str, ...] = ()
    triggers: tuple[Located[str], ...] = ()
    grants: tuple[ServerGrant, ...] = ()
    requires_env: tuple[str, ...] = ()
    deps: tuple[str, ...] = ()
    closed: bool = False
    servers_left_out: bool = False
    reserved: bool = False

    @property
    def bare(self) -> str:
        """The name of its folder."""
        return self.name.rpartition("/")[2]

    @property
    def is_selected(self) -> bool:
        """Whether only the agents and skills that prefer or select its tap have it."""
        return "/" in self.name


@attrs.frozen(kw_only=True)
class Agent:
    """An agent with its capabilities resolved to names that exist."""

    source: AgentSource
    capabilities: tuple[str, ...] = ()
    own_grants: tuple[ServerGrant, ...] = ()
    """What its own file grants: servers of an Octomind manifest, and Claude's `mcpServers`."""

    @property
    def name(self) -> str:
        return self.source.name


@attrs.frozen(kw_only=True)
class Skill:
    """A skill with its capabilities resolved to names that exist.

    `validate` is the text of its script, None where there is none to run.
    """

    source: SkillSource
    capabilities: tuple[str, ...] = ()
    validate: str | None = None


@attrs.frozen(kw_only=True)
class Dependency:
    """What a capability needs on the machine. `program` is what the script's `# check:` line names, if it has one.

    `script` is the text that `deps = "run"` executes; None where the tap has none that can be read.
    """

    name: str
    tap: str
    program: str | None = None
    script: str | None = None


@attrs.frozen(kw_only=True)
class Resolved:
    """Product of resolve. Servers are in order of precedence, the rest is sorted by name."""

    servers: tuple[Server, ...]
    capabilities: tuple[Capability, ...]
    agents: tuple[Agent, ...]
    skills: tuple[Skill, ...]
    dependencies: tuple[Dependency, ...] = ()
    scopes: Scopes | None = None
    """Who may use what; None as in a workspace without a word on it."""
    serve: ServeSettings = attrs.field(factory=ServeSettings)
    """Whose tokens the gateway accepts, with agents and tenants that exist."""
    fixtures: Fixtures = attrs.field(factory=Fixtures)
    """Messages and queries whose names are known, each once: what a build may calibrate on, and `octoc test` runs."""
    needs: tuple[Need, ...] = ()
    """The workspace's own, each once, sorted by name; one of the library's name stands in its place."""
    expansions: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    """Capability -> what else people say for it, in the words of plugins, as users reviewed them."""


@attrs.frozen(kw_only=True)
class ScopedTool:
    """A tool of the bundle, numbered by its place in `Scoped.tools`.

    `contested` is whether its alias is longer because of another tool of the bundle, which not every agent may have.
    """

    id: ToolId
    alias: str
    listed: ListedTool
    contested: bool = False


@attrs.frozen(kw_only=True)
class Scoped:
    """Product of scope: all tools, numbered and named for models, and each agent's registry by the agent's name."""

    tools: tuple[ScopedTool, ...]
    registries: Mapping[str, Registry]
    offers: Offers = attrs.field(factory=Offers)
    """The servers' resources, templates and prompts, and what each agent may use."""
    reasons: Mapping[str, Mapping[int, tuple[ReachStep, ...]]] = attrs.field(factory=dict, eq=False, repr=False)
    """Agent -> tool -> every way on which it has it; worked out when it is asked for."""


@attrs.frozen(kw_only=True)
class Embedded:
    """Product of embed. `vectors` maps each text that calibrate needs to its row; None when no encoder could be had.

    `triggers` has shape (n, d), float32, rows L2-normalised, in the order of capabilities and their triggers.
    `phrases` are those of skills' `semantic(…)` checks, shape (m, d), in the order of `phrases_of`; None without any.
    `encoder_files` are what the bundle ships, by plain name; empty with ship_encoder = false. `encoder_settings` are
    what its plugin gets where the bundle runs: no path of this machine. `encoder` is the encoder itself, for the
    stage that encodes more: opening it costs what forty texts do. `languages` are those that vectors cover, with those
    of the triggers; empty if they cover every language. `second` is the encoder of messages in other languages.
    """

    encoder: Embedder | None = attrs.field(default=None, eq=False, repr=False)
    encoder_name: str | None = None
    identity: str = ""
    dimension: int = 0
    languages: tuple[str, ...] = ()
    triggers: NDArray[np.float32] | None = None
    texts: Mapping[str, NDArray[np.float32]] = attrs.field(factory=dict, repr=False)
    phrases: NDArray[np.float32] | None = None
    encoder_files: Mapping[str, bytes] = attrs.field(factory=dict, repr=False)
    encoder_settings: Mapping[str, str] = attrs.field(factory=dict)
    second: Encoder | None = None


@attrs.frozen(kw_only=True)
class Calibrated:
    """Product of calibrate: the gate, None where nothing is routed, and its arrays by plain name.

    `made_of` is the digest of all that the fitted arrays are made of, empty without a gate.
    """

    gate: Gate | None = None
    arrays: Mapping[str, NDArray[np.generic]] = attrs.field(factory=dict, repr=False)
    made_of: str = ""


@attrs.frozen(kw_only=True)
class SearchIndex:
    """Product of index: the arrays of the search index by plain name, empty where there is no tool.

    `made_of` is the digest of all that its vectors are made of, empty for an index of words alone.
    """

    arrays: Mapping[str, NDArray[np.generic]] = attrs.field(factory=dict, repr=False)
    made_of: str = ""


@attrs.frozen(kw_only=True)
class Locked:
    """Product of lock: the text of `octoc.lock`, empty where there is none, and a line for each change to the file.

    `parts` are the bundle's members. `is_stale`: the existing lock does not match the build, which was reported.
    `programs` is what lies at each path that a server's command line names.
    """

    text: str
    parts: Parts = attrs.field(repr=False)
    changes: tuple[str, ...] = ()
    is_stale: bool = False
    programs: Mapping[str, Program | None] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Emitted:
    """Product of emit: the digest of the bundle's bytes and its path; `path` is None when nothing was written."""

    digest: str
    path: str | None
    size: int
