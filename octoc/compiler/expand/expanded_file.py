"""The content of `routing/expanded.toml`: texts, with digests of the questions and answers."""

from __future__ import annotations

import json
from collections.abc import Iterable

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.compiler.model.resolved import Capability
from octoc.compiler.model.source import ExpansionSource

HEADER = """\
# Written by `octoc expand`. Review it: each line of `says` is an example in every build, of less weight than a trigger.
# What you delete of `says` stays deleted; a whole table that is gone is asked for again.
"""

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
    tables = [
        "\n".join(
            [
                f"\n[{_key(each.capability)}]",
                f"triggers = {_string(each.triggers)}",
                *_lines("answered", each.answered),
                *_lines("says", each.says),
                "",
            ]
        )
        for each in sorted(expansions, key=lambda each: each.capability)
    ]
    return HEADER + "".join(tables)


def _lines(key: str, texts: Iterable[str]) -> list[str]:
    found = sorted(set(texts))
    return [f"{key} = [", *(f"  {_string(text)}," for text in found), "]"] if found else [f"{key} = []"]


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if is_bare else _string(name)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
