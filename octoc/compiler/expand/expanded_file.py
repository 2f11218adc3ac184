"""The text of `routing/expanded.toml`."""

from __future__ import annotations

from collections.abc import Iterable

import tomlkit

from octoc.compiler.model.source import ExpansionSource
from octoc.compiler.workspace.toml_text import add_comment, add_table, array_of

_HEADER = """\
Written by `octoc expand`. Review it: each line of `says` is an example in every build, of less weight than a trigger.
What you delete of `says` stays deleted; a whole table that is gone is asked for again."""


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
