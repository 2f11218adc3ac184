"""A tap's TOML files: capabilities with their providers, and Octomind's agents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from octoc.compiler.model.documents import DefaultLink, Discovered, Document
from octoc.compiler.model.source import AgentSource, CapabilitySource, ConfigSource, Located, ProviderSource
from octoc.compiler.structure.lists import texts
from octoc.compiler.structure.servers import octomind_servers
from octoc.diagnostics.model import Place

DEFAULT_PROVIDER = "default"
"""The provider that a `default.toml` of its own is."""

_SAMPLING = ("temperature", "top_p", "top_k")


def capability_sources(discovered: Discovered, documents: tuple[Document, ...]) -> tuple[CapabilitySource, ...]:
    """Return the capabilities of every tap, in the order in which their folders were discovered.

    A folder whose files are all unsound is a capability without providers, so that nobody takes it for unknown.
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
            configs[_folder(document)] = _config(document)
        else:
            provider = _provider(document)
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
    values, place = document.values, document.place()
    domain = document.file.key["domain"]
    role, at_role = values["roles"][0], place.child("roles", 0)
    grant = role.get("mcp", {})
    nested = role.get("model")
    sampling = {**(nested if isinstance(nested, Mapping) else {}), **role}
    model = nested if isinstance(nested, str) else values.get("model", "")
    return AgentSource(
        name=f"{domain}:{document.file.key['spec']}",
        kind="octomind",
        place=place,
        domain=domain,
        role_name=Located(role["name"], at_role.child("name")) if "name" in role else None,
        title=document.headers.get("Title", ""),
        description=document.headers.get("Description", ""),
        model=model,
        capabilities=texts(values, "capabilities", place),
        inline_servers=octomind_servers(values, place),
        server_refs=texts(grant, "server_refs", at_role.child("mcp")),
        allowed_tools=_optional_texts(grant, "allowed_tools", at_role.child("mcp")),
        deps=texts(values.get("deps", {}), "require", place.child("deps")),
        sampling={key: float(sampling[key]) for key in _SAMPLING if key in sampling},
        welcome=role.get("welcome", ""),
        prompt=role.get("system", ""),
        tap=document.file.tap,
        folder=PurePosixPath(document.file.display).parent.as_posix(),
    )


def _config(document: Document) -> ConfigSource:
    place = document.place()
    return ConfigSource(
        place=place,
        triggers=texts(document.values, "triggers", place),
        domains=texts(document.values, "domains", place),
    )


def _provider(document: Document) -> ProviderSource:
    values, place = document.values, document.place()
    grant, at_grant = values.get("roles", {}).get("mcp", {}), place.child("roles", "mcp")
    return ProviderSource(
        name=document.file.key["provider"],
        place=place,
        title=document.headers.get("Title", ""),
        description=document.headers.get("Description", ""),
        server_refs=_optional_texts(grant, "server_refs", at_grant),
        allowed_tools=_optional_texts(grant, "allowed_tools", at_grant),
        servers=octomind_servers(values, place),
        deps=texts(values.get("deps", {}), "require", place.child("deps")),
    )


def _optional_texts(values: Mapping[str, Any], key: str, place: Place) -> tuple[Located[str], ...] | None:
    return texts(values, key, place) if key in values else None


def _folder(document: Document) -> tuple[str, str]:
    return document.file.tap or "", document.file.key["capability"]
