"""Digests of the questions and answers in `routing/expanded.toml`. A check loads this module, without tomlkit."""

from __future__ import annotations

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.compiler.model.resolved import Capability

_TOLD = 16
_ANSWER = 12


def told_digest(capability: Capability) -> str:
    """Return the digest, 16 digits, of the description of a capability that plugins get."""
    triggers = [trigger.value for trigger in capability.triggers]
    told = [capability.name, capability.title, capability.description, triggers]
    return sha256_hex(canonical_json(told))[:_TOLD]


def answer_digest(text: str) -> str:
    """Return the digest, 12 digits, that identifies an answer after a user deleted it from the file."""
    return sha256_hex(text.encode())[:_ANSWER]
