"""The content of `routing/expanded.toml`: texts, with digests of the questions and answers."""

from __future__ import annotations

from collections.abc import Iterable

import tomlkit

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.compiler.model.resolved import Capability
from octoc.compiler.model.source import ExpansionSource
from octoc.compiler.workspace.toml_text import add_comment, add_table, array_of

_HEADER = """\
Written by `octoc expand`. Review it: each line of `says` is an example in every build, of less weight than a trigger.
What you delete of `says` stays deleted; a whole table that is gone is asked for again."""

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


def expanded_text(expansions: Iterable[ExpansionSource]) -> str:
    """Return the text of the file, sorted and with one line for each text, so that diffs are readable."""
    document = tomlkit.document()
    add_comment(document, _HEADER)
    for each in sorted(expansions, key=lambda each: each.capability):
        lists = {
            key: array_of(sorted(set(texts)), 0, one_each=True)
            for key, texts in (("answered", each.answered), ("says", each.says))
        }
        add_table(document, (each.capability,), {"triggers": each.triggers, **lists})
    return tomlkit.dumps(document)
