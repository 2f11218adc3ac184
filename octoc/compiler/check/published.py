"""What the schemas of files about one server or about skills cannot say: what their readers refuse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.check.skill_locks import check_skill_files
from octoc.compiler.model.documents import kept
from octoc.credentials.placeholders import is_placeholder
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.lists import name_list
from octoc.small_files import small_bytes_if_any
from octoc.transport_kinds import STANDARD, kind_of_definition

_MAX_DESCRIPTION = 100
_CAMEL_CASE = "2025-09-16"
"""The registry's schema in which keys became camel case."""
_TEMPLATE = re.compile(r"<<|\{\{|\$\{|\A@|%\w+%")
_DATE = re.compile(r"/schemas/(\d{4}-\d{2}-\d{2})/")
_COMPARED = re.compile(r"\s*(?:\^|~|[<>]=?|=)\s*v?\d|.*\s(?:-|\|\|)\s")
_WILDCARD = re.compile(r"v?(?:\d+|[xX*])(?:\.(?:\d+|[xX*])){0,2}\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_PROGRAMS = {"npm": ("npx", "bunx", "pnpm"), "pypi": ("uvx", "uv", "pipx")}
"""Registries, and the programs that run their packages; the usual one first."""
_MAX_MANIFEST_BYTES = 200_000
_OWN_PACKAGE = {
    "pypi": ("package.json", r'^\s*"name"\s*:\s*"([^"]+)"', "npm"),
    "npm": ("pyproject.toml", r'^name\s*=\s*"([^"]+)"', "pypi"),
}
"""Registries, and what a file for the other one is called, where its package's name stands, and that other one."""
_LOCK_KEYS = frozenset({"source", "sourceType", "ref", "skillPath", "computedHash"})
_SNAKE = {
    **{f"{name}_{last}": f"{name}{last.title()}" for name, last in (("registry", "type"), ("runtime", "hint"))},
    "registry_base_url": "registryBaseUrl",
    "file_sha256": "fileSha256",
    "website_url": "websiteUrl",
    "runtime_arguments": "runtimeArguments",
    "package_arguments": "packageArguments",
    "environment_variables": "environmentVariables",
}
"""Keys of older schemas of the registry -> today's."""


def check_fastmcp(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Report a source file that does not exist beside the file."""
    written = values["source"]["path"]
    # `path:object` also names the object. A drive of Windows has a colon of its own.
    path = written if written[1:2] == ":" else written.partition(":")[0]
    if "${" not in path and not (inspection.file.path.parent / path).exists():
        inspection.report(
            rules.MISSING_SOURCE,
            f"`{path}` does not exist, and FastMCP loads the server from it",
            ("source", "path"),
            help="write the path of the Python file from the folder of this file",
        )


def check_registry_server(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Report what the MCP registry refuses: long descriptions, ranges of versions, downloads without a digest."""
    _check_description(values, inspection)
    _check_version(values["version"], ("version",), inspection)
    for index, package in kept(values.get("packages") or ()):
        path: KeyPath = ("packages", index)
        _check_version(package.get("version", ""), (*path, "version"), inspection)
        _check_program(package, path, inspection)
        transport = package["transport"]
        kind = STANDARD.get(kind_of_definition(transport) or "")
        if kind is not None and kind.needs == "url" and not transport.get("url"):
            message = f"`{transport['type']}` needs a `url`"
            inspection.report(rules.REFUSED_BY_REGISTRY, message, (*path, "transport"), help="add `url`")
        digest = package.get("fileSha256", "")
        # What publishes the file fills in a placeholder such as `<digest>`.
        if package["registryType"] == "mcpb" and not (_SHA256.match(digest) or is_placeholder(digest)):
            message = "a package of type `mcpb` needs `fileSha256`, 64 lower-case hexadecimal digits"
            advice = "add the SHA-256 digest of the file at `identifier`"
            # A release may write the digest.
            inspection.report(rules.REFUSED_BY_REGISTRY, message, path, help=advice, severity=Severity.WARNING)


def _check_program(package: Mapping[str, Any], path: KeyPath, inspection: FileInspection) -> None:
    """Report a program that takes packages from another registry than the package is in."""
    kind, hint = package["registryType"], package.get("runtimeHint")
    other = next((one for one, programs in _PROGRAMS.items() if hint in programs and one != kind), None)
    if kind in _PROGRAMS and other is not None:
        inspection.report(
            rules.UNEXPECTED_VALUE,
            f"`{hint}` runs packages of {other}, and `{package['identifier']}` is one of {kind}",
            (*path, "runtimeHint"),
            help=f"write `{_PROGRAMS[kind][0]}`, or correct `registryType`",
            severity=Severity.WARNING,
        )
    own = _OWN_PACKAGE.get(kind)
    if own is not None and _is_own(inspection.file.path.parent / own[0], own[1], str(package["identifier"])):
        inspection.report(
            rules.UNEXPECTED_VALUE,
            f"`{package['identifier']}` is the package of `{own[0]}` beside the file, and so one of {own[2]}",
            (*path, "registryType"),
            help=f"write `{own[2]}`",
            severity=Severity.WARNING,
        )
    if kind == "pypi" and str(package["identifier"]).startswith("@"):
        inspection.report(
            rules.REFUSED_BY_REGISTRY,
            f"`{package['identifier']}` is a name of npm, and no package of pypi can have it",
            (*path, "identifier"),
            help="write the name on PyPI, or set `registryType` to `npm`",
        )


def _is_own(manifest: Path, pattern: str, name: str) -> bool:
    """Tell whether a manifest is there that publishes a package of this name, and the one of the other registry not."""
    others = [own[0] for own in _OWN_PACKAGE.values() if own[0] != manifest.name]
    text = small_bytes_if_any(str(manifest), _MAX_MANIFEST_BYTES).decode("utf-8", "replace")
    written = re.search(pattern, text, re.MULTILINE)
    return written is not None and written[1] == name and not any((manifest.parent / one).exists() for one in others)


def _check_description(values: Mapping[str, Any], inspection: FileInspection) -> None:
    text = values.get("description")
    if isinstance(text, str) and not 0 < len(text) <= _MAX_DESCRIPTION:
        inspection.report(
            rules.REFUSED_BY_REGISTRY,
            f"`description` has {len(text)} characters, and the registry takes 1 to {_MAX_DESCRIPTION}",
            ("description",),
            help="say what the server does in one short sentence",
        )


def _check_version(version: str, path: KeyPath, inspection: FileInspection) -> None:
    is_range = _COMPARED.match(version) or (_WILDCARD.match(version) and re.search(r"[xX*]", version))
    if version == "latest" or is_range:
        inspection.report(
            rules.REFUSED_BY_REGISTRY,
            f"`{version}` is not one version, and the registry refuses it",
            path,
            help="write the exact version",
        )


def is_proxy(values: Mapping[str, Any], _: FileInspection) -> bool:
    """Tell whether a `fastmcp.json` lists servers, for which FastMCP is a proxy, and so has no source of its own."""
    return "mcpServers" in values


def is_older_entry(values: Mapping[str, Any], inspection: FileInspection) -> bool:
    """Tell whether a `server.json` is a template, or in the form of an older schema, which is reported once."""
    if _TEMPLATE.search(str(values.get("name"))):
        return True
    date = _DATE.search(str(values.get("$schema")))
    if date is not None and date[1] < _CAMEL_CASE:
        inspection.report(
            rules.REFUSED_BY_REGISTRY,
            f"the registry does not take the schema of {date[1]}: its keys changed on {_CAMEL_CASE}",
            ("$schema",),
            severity=Severity.WARNING,
            help="write the file by the current schema, with keys such as `registryType`",
        )
        return True
    written = values.get("packages")  # of any type, as the schema is not checked yet
    packages = written if isinstance(written, list) else []
    places: list[KeyPath] = [(key,) for key in values if key in _SNAKE]
    places += [
        ("packages", index, key)
        for index, one in enumerate(packages)
        if isinstance(one, Mapping)
        for key in one
        if key in _SNAKE
    ]
    if places:
        old = list(dict.fromkeys(str(place[-1]) for place in places))
        new = name_list([_SNAKE[key] for key in old])
        message = f"the registry does not read {name_list(old)}: {'it is a key' if len(old) == 1 else 'they are keys'}"
        inspection.report(
            rules.REFUSED_BY_REGISTRY, f"{message} of an older schema", places[0], key=True, help=f"write {new}"
        )
        _check_description(values, inspection)
    return bool(places)


def is_own_lock(values: Mapping[str, Any], _: FileInspection) -> bool:
    """Tell whether another program keeps a `skills-lock.json` by its own rules: a digest is missing among its keys."""
    skills = values.get("skills")
    return isinstance(skills, Mapping) and any(
        isinstance(skill, Mapping) and "computedHash" not in skill and len(skill.keys() - _LOCK_KEYS) > 1
        for skill in skills.values()
    )


def check_skills_lock(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Report digests that are not SHA-256, and skills whose files have another one."""
    for name, skill in values["skills"].items():
        if not _SHA256.match(skill.get("computedHash", "0" * 64)):
            inspection.report(
                rules.UNEXPECTED_VALUE,
                f"`computedHash` of skill `{name}` is not a SHA-256 digest, 64 lower-case hexadecimal digits",
                ("skills", name, "computedHash"),
                help="run `npx skills update` to write it again",
                severity=Severity.INFO,  # the `skills` program does not read it
            )
    check_skill_files(values, inspection)
