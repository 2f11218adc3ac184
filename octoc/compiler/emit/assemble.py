"""From the products of all stages to the bundle's members: the same products give the same bytes anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from octoc import __version__
from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.model import (
    AgentEntry,
    Bundle,
    CapabilityEntry,
    DepEntry,
    DepFile,
    DepFolder,
    Encoder,
    Grant,
    Registry,
    ResultSettings,
    ServerDefinition,
    ServerEntry,
    Settings,
    SkillEntry,
    SkillSettings,
    Slice,
    ToolEntry,
)
from octoc.bundle.serve_settings import ServeSettings
from octoc.bundle.writer import BlobBuilder, Parts, parts_of
from octoc.compiler.emit.paths import relocator
from octoc.compiler.emit.scopes import areas_of, tenants_of, tool_groups_of
from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import TreeFile
from octoc.compiler.model.resolved import (
    Agent,
    Capability,
    Dependency,
    Embedded,
    Server,
    ServerGrant,
    Skill,
)
from octoc.compiler.model.scopes import AgentPlacement, Scopes
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.read.text import UTF8_BOM
from octoc.compiler.resolve.bundle_fields import bundle_fields
from octoc.compiler.resolve.scopes.tuning import quota_of
from octoc.compiler.workspace.paths import CORE_TAP
from octoc.names import ToolId
from octoc.references import unescaped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def assemble(build: Build, root: Path, *, plugins: Mapping[str, str], inputs: str, workspace: str = "") -> Parts:
    """Return the bundle's members.

    Args:
        plugins: versions by name.
        inputs: the digest of all inputs.
        root: the workspace's folder; what servers say of paths inside it is made relative to `${workspaceFolder}`.
        workspace: the way from the bundle's folder to the workspace, as `way_to_workspace` returns it.
    """
    settings, resolved, scoped, embedded = build.settings, build.resolved, build.scoped, build.embedded
    numbers = {tool.id: number for number, tool in enumerate(scoped.tools)}
    tools, texts = BlobBuilder(), BlobBuilder()
    relocated = relocator(root)
    folders = _dep_folders(build, texts)
    is_run = settings.runtime.deps == "run"
    bundle = Bundle(
        name=settings.name,
        octoc_version=__version__,
        settings=_settings(settings, resolved.scopes, resolved.serve),
        servers=tuple(_server(server, relocated) for server in resolved.servers),
        tools=tuple(
            ToolEntry(
                server=tool.id.server,
                name=tool.id.tool,
                alias=tool.alias,
                description=tool.listed.description,
                wire=tools.add(canonical_json(tool.listed.wire)),
            )
            for tool in scoped.tools
        ),
        capabilities=tuple(sorted(_capabilities(build, numbers), key=lambda entry: entry.name)),
        skills=tuple(_skill(skill, texts) for skill in sorted(resolved.skills, key=lambda skill: skill.source.name)),
        agents=tuple(_agents(build, texts)),
        encoder=_encoder(build.embedded),
        second_encoder=build.embedded.second,
        gate=build.calibrated.gate,
        plugins=dict(plugins),
        deps=tuple(_dependency(found, texts, folders, is_run=is_run) for found in resolved.dependencies),
        dep_folders=tuple(folders[name] for name in sorted(folders)),
        tenants=tenants_of(resolved.scopes),
        areas=areas_of(resolved.scopes, scoped.registries),
        tool_groups=tool_groups_of(resolved.scopes, scoped.registries, numbers),
        contested=tuple(number for number, tool in enumerate(scoped.tools) if tool.contested),
        inputs=inputs,
        workspace=workspace,
    )
    arrays: dict[str, NDArray[np.generic]] = {f"gate/{name}": array for name, array in build.calibrated.arrays.items()}
    arrays |= {f"search/{name}": array for name, array in build.search.arrays.items()}
    if embedded.triggers is not None:
        arrays["triggers"] = embedded.triggers
    if embedded.phrases is not None:
        arrays["skills/phrases"] = embedded.phrases
    return parts_of(
        bundle,
        blobs={"tools": tools.data, "texts": texts.data},
        arrays=arrays,
        encoder_files=embedded.encoder_files,
        offers=scoped.offers,
    )


def _settings(settings: WorkspaceSettings, scopes: Scopes | None, serve: ServeSettings) -> Settings:
    return Settings(
        **bundle_fields(Settings, settings.routing),
        **bundle_fields(Settings, settings.runtime),
        mode=settings.mode,
        kept=settings.routing.keep,
        alias_style=settings.alias_style,
        results=ResultSettings(**bundle_fields(ResultSettings, settings.results)),
        search=settings.search,
        skills=SkillSettings(**bundle_fields(SkillSettings, settings.skills)),
        scopes=Settings().scopes if scopes is None else scopes.profile,
        scoped=scopes is not None and not scopes.is_unlimited,
        quota=quota_of(settings.quota),
        serve=serve,
    )


def _server(server: Server, relocated: Callable[[Any], Any]) -> ServerEntry:
    own = {name: getattr(server, name) for name in attrs.fields_dict(ServerDefinition)}
    return ServerEntry(
        **{**own, **relocated(server.reached)},
        listed=server.snapshot is not None,
        instructions=None if server.snapshot is None else server.snapshot.listing.instructions,
        tools=server.policies,
    )


def _grant(grant: ServerGrant, numbers: Mapping[ToolId, int]) -> Grant:
    found = sorted(numbers[tool] for tool in grant.tools if tool in numbers)
    return Grant(server=grant.server, globs=grant.globs, tools=tuple(found))


def _capabilities(build: Build, numbers: Mapping[ToolId, int]) -> Iterator[CapabilityEntry]:
    """Yield the capabilities in the order in which their triggers were embedded."""
    row = 0
    for capability in build.resolved.capabilities:
        first, row = row, row + len(capability.triggers)
        yield _capability(capability, (first, row) if build.embedded.triggers is not None else (0, 0), numbers)


def _capability(capability: Capability, rows: tuple[int, int], numbers: Mapping[ToolId, int]) -> CapabilityEntry:
    return CapabilityEntry(
        name=capability.name,
        provider=capability.provider,
        title=capability.title,
        description=capability.description,
        domains=capability.domains,
        triggers=tuple(trigger.value for trigger in capability.triggers),
        rows=rows,
        grants=tuple(_grant(grant, numbers) for grant in capability.grants),
        requires_env=capability.requires_env,
        deps=capability.deps,
        servers_left_out=capability.servers_left_out,
    )


def _dep_folders(build: Build, texts: BlobBuilder) -> dict[str, DepFolder]:
    """Return by tap the folders that scripts of dependencies use; none where no script is run."""
    used = {dependency.tap for dependency in build.resolved.dependencies if dependency.script is not None}
    data = build.documents.dep_files
    folders = {}
    for tree in build.discovered.dep_trees:
        whole = all(file.link or file.display in data for file in tree.files)
        if tree.tap in used and tree.files and whole:
            files = tuple(_dep_file(file, data, texts) for file in tree.files)
            folders[tree.tap] = DepFolder(name=tree.tap, digest=DepFolder.digest_of(files), files=files)
    return folders


def _dep_file(file: TreeFile, data: Mapping[str, bytes], texts: BlobBuilder) -> DepFile:
    if file.link:
        return DepFile(path=file.path, link=file.link)
    content = data[file.display]
    if file.path.endswith(".sh"):
        # As the reader takes a script's own text: no shell takes CRLF, which git writes on Windows.
        content = content.removeprefix(UTF8_BOM).replace(b"\r\n", b"\n")
    return DepFile(path=file.path, data=texts.add(content), digest=sha256_hex(content), is_program=file.is_executable)


def _dependency(
    dependency: Dependency, texts: BlobBuilder, folders: Mapping[str, DepFolder], *, is_run: bool
) -> DepEntry:
    script = dependency.script
    if script is None:
        return DepEntry(name=dependency.name)
    # The digest is that of the bytes in the blob, which are what is run.
    data = script.encode("utf-8", "replace")
    if is_run and dependency.tap not in folders:
        # What it may need cannot go into the bundle, which was reported: run without that, it would do something else.
        return DepEntry(name=dependency.name, program=dependency.program)
    return DepEntry(
        name=dependency.name,
        program=dependency.program,
        script=texts.add(data),
        digest=sha256_hex(data),
        folder=dependency.tap if dependency.tap in folders else "",
    )


def _skill(skill: Skill, texts: BlobBuilder) -> SkillEntry:
    source, script = skill.source, skill.validate
    # The digest is that of the bytes in the blob, which are what is run.
    data = None if script is None else script.encode("utf-8", "replace")
    return SkillEntry(
        name=source.name,
        title=source.title,
        description=source.description,
        compatibility=source.compatibility,
        domains=tuple(domain.value for domain in source.domains),
        rules=tuple(rule.value for rule in source.rules),
        capabilities=skill.capabilities,
        resources=() if source.folder is None else source.folder.resources,
        folder="" if source.folder is None else _in_workspace(source.folder.folder),
        body=texts.add_text(source.body),
        validate=Slice(0, 0) if data is None else texts.add(data),
        validate_digest="" if data is None else sha256_hex(data),
    )


def _in_workspace(display: str) -> str:
    """Return a folder below `${workspaceFolder}`; empty for one outside, whose path is the build machine's own."""
    is_outside = not display or display.startswith(("/", "../", f"{CORE_TAP}/")) or display == ".."
    return "" if is_outside else f"${{workspaceFolder}}/{display}"


def _agents(build: Build, texts: BlobBuilder) -> Iterator[AgentEntry]:
    """Yield the agents that have a registry, by name; the supervisor has one also where no file defines it."""
    agents = {agent.name: agent for agent in build.resolved.agents}
    scopes = build.resolved.scopes
    members = {} if scopes is None else scopes.members
    for name, registry in sorted(build.scoped.registries.items()):
        servers_prompt = build.prompts.get(name, "")
        if name in agents:
            yield _agent(agents[name], registry, servers_prompt, members.get(name, AgentPlacement()), texts)
        else:
            yield AgentEntry(
                name=name, kind="octo", type=name, servers_prompt=texts.add_text(servers_prompt), registry=registry
            )


def _agent(
    agent: Agent, registry: Registry, servers_prompt: str, member: AgentPlacement, texts: BlobBuilder
) -> AgentEntry:
    source = agent.source
    # Octomind's escapes; in files of other systems the signs are text.
    written = unescaped if source.kind == OCTOMIND.name else str
    return AgentEntry(
        name=source.name,
        kind=source.kind,
        type=source.type,
        domain=source.domain,
        title=source.title,
        description=source.description,
        model=source.model,
        sampling={name: float(value) for name, value in source.sampling.items()},
        welcome=texts.add_text(written(source.welcome)),
        prompt=texts.add_text(written(source.prompt)),
        servers_prompt=texts.add_text(servers_prompt),
        registry=registry,
        areas=member.areas,
        tenants=member.tenants,
        settings=member.settings,
    )


def _encoder(embedded: Embedded) -> Encoder | None:
    if embedded.encoder_name is None:
        return None
    return Encoder(
        name=embedded.encoder_name,
        identity=embedded.identity,
        dimension=embedded.dimension,
        languages=embedded.languages,
        settings=dict(embedded.encoder_settings),
        files=tuple(sorted(embedded.encoder_files)),
    )
