"""What the lock says of the bundle: one digest over what does not depend on the CPU, and what all else is made of."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.layout import INDEX, depends_on_cpu
from octoc.bundle.writer import Parts

_SHORT = 16
# What of `bundle.json` says who built it and where to, and what a CPU has a part in: the gate's own numbers.
_APART = ("octoc_version", "workspace", "gate", "members", "format")


@attrs.frozen(kw_only=True)
class BundleLock:
    """The bundle that was built.

    Args:
        digest: covers every member that does not depend on the CPU, with its name; `members` has 16 digits of each.
        made_of: digests of all that vectors and fitted arrays are made of: texts, encoder, method.
    """

    digest: str
    members: Mapping[str, str] = attrs.field(factory=dict)
    made_of: Mapping[str, str] = attrs.field(factory=dict)


def bundle_lock(parts: Parts, made_of: Mapping[str, str]) -> BundleLock:
    """Return what the lock says of a bundle. With vectors, search's words depend on the nearest of them."""
    is_dense = "search/vectors.npy" in parts.members
    gate = parts.index.get("gate") or {}
    about = {key: value for key, value in parts.index.items() if key not in _APART}
    digests = {INDEX: sha256_hex(canonical_json([about, gate.get("kind")]))}
    for name, data in parts.members.items():
        is_lexical = name.startswith("search/") and not is_dense
        if is_lexical or not depends_on_cpu(name):
            digests[name] = sha256_hex(data)
    return BundleLock(
        digest=sha256_hex(canonical_json(digests)),
        members={name: digest[:_SHORT] for name, digest in digests.items()},
        made_of=dict(made_of),
    )
