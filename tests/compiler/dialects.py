"""octoc's own dialects by name, for tests."""

from octoc.compiler.inputs.dialects import CoreFileKinds
from octoc.compiler.model.documents import NO_DIALECT, FileKind
from octoc.plugin.file_kinds import Dialect

_KNOWN: dict[tuple[str, str], Dialect] = {(one.kind, one.name): one for one in CoreFileKinds().octoc_file_kinds()}


def dialect_named(kind: FileKind, name: str) -> Dialect:
    """Return the dialect `name` of a kind of file; of a kind without dialects, what stands for none."""
    return _KNOWN.get((kind.value, name), NO_DIALECT)
