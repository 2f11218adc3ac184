"""octoc's own dialects by name, for tests."""

from octoc.compiler.inputs.registry import DIALECTS
from octoc.plugin.file_kinds import NO_DIALECT, Dialect, FileKind

_KNOWN: dict[tuple[str, str], Dialect] = {(one.kind, one.name): one for one in DIALECTS}


def dialect_named(kind: FileKind, name: str) -> Dialect:
    """Return the dialect `name` of a kind of file; of a kind without dialects, what stands for none."""
    return _KNOWN.get((kind.name, name), NO_DIALECT)
