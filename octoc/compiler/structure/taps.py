"""A tap's TOML files: capabilities with their providers, and Octomind's agents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.compiler.model.documents import DefaultLink, Discovered, Document
from octoc.compiler.model.located import MANIFEST
from octoc.compiler.model.source import AgentSource, CapabilitySource, ConfigSource, ProviderSource
from octoc.compiler.structure.converter import structured
from octoc.diagnostics.model import Place

DEFAULT_PROVIDER = "default"
"""The provider that a `default.toml` of its own is."""

_SAMPLING = ("temperature", "top_p", "top_k")


def capability_sources(discovered: Discovered, documents: tuple[Document, ...]) -> tuple[CapabilitySource, ...]:
    """Return the capabilities of every tap, in the order in which their folders were discovered.

    A folder whose files are all unsound is a capability without providers, so that its name stays known.
    """
    folders: dict[tuple[str, str], Place] = {}
    configured = set()
    for file in discovered.files:
        if file.kind.role == "capabilities":
            folders.setdefault((file.tap or "", file.key["capability"]), Place(file=file.display))
        if file.kind.role == "capabilities" and "provider" not in file.key:
            configured.add((file.tap or "", file.key["capability"]))
    configs: dict[tuple[str, str], ConfigSource] = {}
    providers: dict[tuple[str, str], dict[str, ProviderSource]] = {}
    defaults = {(link.tap, link.capability): link for link in discovered.default_links}
    for document in documents:
        if document.file.kind.role != "capabilities":
            continue
        if "provider" not in document.file.key:
            configs[_folder(document)] = structured(ConfigSource, document.values, document.place())
        else:
            provider = structured(
                ProviderSource,
                document.values,
                document.place(),
                name=document.file.key["provider"],
                title=document.headers.get("Title", ""),
                description=document.headers.get("Description", ""),
            )
            providers.setdefault(_folder(document), {})[provider.name] = provider
            if provider.name == DEFAULT_PROVIDER:
                tap, capability = _folder(document)
                link = DefaultLink(tap=tap, capability=capability, provider=DEFAULT_PROVIDER, place=provider.place)
                defaults.setdefault((tap, capability), link)
    return tuple(
        CapabilitySource(
            name=name,
            tap=tap,
            place=place,
            config=configs.get((tap, name)),
            has_config=(tap, name) in configured,
            providers=providers.get((tap, name), {}),
            default=defaults.get((tap, name)),
        )
        for (tap, name), place in folders.items()
    )


def manifest_agent(document: Document) -> AgentSource:
    """Return the agent of a manifest: `<domain>:<spec>` from its path, the rest from headers and the first role."""
    values = document.values
    domain, role = document.file.key["domain"], values["roles"][0]
    nested = role.get("model")
    sampling = {**(nested if isinstance(nested, Mapping) else {}), **role}
    return structured(
        AgentSource,
        values,
        document.place(),
        MANIFEST,
        name=f"{domain}:{document.file.key['spec']}",
        kind=OCTOMIND.name,
        domain=domain,
        title=document.headers.get("Title", ""),
        description=document.headers.get("Description", ""),
        model=nested if isinstance(nested, str) else values.get("model", ""),
        sampling={key: float(sampling[key]) for key in _SAMPLING if key in sampling},
        tap=document.file.tap,
        folder=PurePosixPath(document.file.display).parent.as_posix(),
    )


def _folder(document: Document) -> tuple[str, str]:
    return document.file.tap or "", document.file.key["capability"]
