"""A signed bundle, as small as possible, with its key and trust file."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.bundle.digest import sha256_hex
from octoc.bundle.model import AgentEntry, Bundle, Settings
from octoc.bundle.reader import OpenBundle
from octoc.bundle.writer import write_bundle
from octoc.trust.keys import SigningKey, new_key
from octoc.trust.refusal import UntrustedBundleError
from octoc.trust.signature import Statement, signature_file

LATER, EARLIER = "2999-01-01T00:00:00Z", "2020-01-01T00:00:00Z"


def bundle_named(name: str) -> bytes:
    """Return a bundle with one agent and nothing else."""
    bundle = Bundle(name=name, octoc_version="0", settings=Settings(), agents=(AgentEntry(name="a", kind="octo"),))
    return write_bundle(bundle, blobs={"tools": b"", "texts": b""})


SMALL = bundle_named("acme")


def entry(key: SigningKey, **more: Any) -> dict[str, Any]:
    """Return a key as a trust file has it."""
    return {"id": key.id, "public_key": b64encode(key.public).decode(), **more}


@attrs.frozen(kw_only=True)
class Deployment:
    """A folder with `acme.octoc`, its signature and `trust.json`."""

    folder: Path
    key: SigningKey

    @property
    def bundle(self) -> Path:
        return self.folder / "acme.octoc"

    @property
    def signature(self) -> Path:
        return self.folder / "acme.octoc.sig"

    @property
    def trust(self) -> Path:
        return self.folder / "trust.json"

    @property
    def state(self) -> Path:
        return self.folder / "trust.state.json"

    def write_trust(self, *keys: dict[str, Any], **more: Any) -> None:
        """Write a trust file with these keys."""
        self.trust.write_text(json.dumps({"version": 1, "keys": keys, **more}), encoding="utf-8")

    def sign(self, data: bytes = SMALL, by: SigningKey | None = None, **changes: Any) -> None:
        """Write a bundle and its signature, which says the truth of the bundle except for `changes`."""
        by = by or self.key
        facts = {"name": "acme", "sha256": sha256_hex(data), "size": len(data), "revision": 5, "expires": LATER}
        self.bundle.write_bytes(data)
        self.signature.write_bytes(signature_file(Statement(**{"key": by.id, **facts, **changes}), by.sign))

    def kind(self) -> str:
        """Return why the bundle is refused, `opened` if it is not."""
        try:
            OpenBundle.open(self.bundle, trust=self.trust).close()
        except UntrustedBundleError as refused:
            if not refused.help or refused.diagnostic().span is None:
                return f"{refused.kind} without place or next step"
            return refused.kind
        return "opened"


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    """A deployment whose bundle opens."""
    made = Deployment(folder=tmp_path, key=new_key())
    made.sign()
    made.write_trust(entry(made.key))
    return made
