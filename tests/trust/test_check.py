"""With a trust file a bundle is opened only if its signature verifies; each refusal has its own reason."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.reader import OpenBundle
from octoc.trust.check import read_verified
from octoc.trust.keys import new_key
from octoc.trust.refusal import UntrustedBundleError
from octoc.trust.signature import PAYLOAD_TYPE, read_envelope, to_sign
from tests.trust.conftest import EARLIER, LATER, SMALL, Deployment, bundle_named, entry

OTHER = new_key()


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[Deployment], None]:
    """Return what changes the JSON of a signature file, in the form that octoc writes."""

    def edit(made: Deployment) -> None:
        fields = json.loads(made.signature.read_bytes())
        change(fields)
        made.signature.write_bytes(canonical_json(fields) + b"\n")

    return edit


def of_curve(made: Deployment) -> None:
    """Replace the signature by one of another algorithm over the same payload."""
    payload = read_envelope(made.signature.read_bytes()).payload
    signature = ec.generate_private_key(ec.SECP256R1()).sign(to_sign(PAYLOAD_TYPE, payload), ec.ECDSA(hashes.SHA256()))
    edited(lambda one: one["signatures"][0].update(sig=b64encode(signature).decode()))(made)


def other_payload(made: Deployment) -> None:
    """Sign a payload of another type, which the same key may do elsewhere."""
    payload = read_envelope(made.signature.read_bytes()).payload
    signature = made.key.sign(to_sign("text/plain", payload))
    text = b64encode(signature).decode()
    edited(lambda one: (one.update(payloadType="text/plain"), one["signatures"][0].update(sig=text)))(made)


def relabelled(made: Deployment) -> None:
    """Say that a signature of another type of payload is of octoc's."""
    other_payload(made)
    edited(lambda one: one.update(payloadType=PAYLOAD_TYPE))(made)


def no_statement(made: Deployment) -> None:
    """Sign something that is JSON, and no statement."""
    sig = b64encode(made.key.sign(to_sign(PAYLOAD_TYPE, b"[1]"))).decode()
    edited(lambda one: (one.update(payload=b64encode(b"[1]").decode()), one["signatures"][0].update(sig=sig)))(made)


def unused_bit(made: Deployment) -> None:
    """Change a bit of the signature's base64 that stands for nothing, as each decoder ignores it."""
    data = bytearray(made.signature.read_bytes())
    last = data.rindex(b'=="') - 1
    digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    data[last] = digits[digits.index(data[last]) ^ 1]
    made.signature.write_bytes(data)


def two_keys(made: Deployment) -> None:
    """Trust another key too, and say that it signed."""
    made.write_trust(entry(made.key), entry(OTHER))
    edited(lambda one: one["signatures"][0].update(keyid=OTHER.id))(made)


def key_of_another(made: Deployment) -> None:
    """Sign with a trusted key a payload that names another trusted key."""
    made.write_trust(entry(made.key), entry(OTHER))
    made.sign(by=OTHER, key=made.key.id)


def garbage(data: bytes) -> Callable[[Deployment], object]:
    """Return what replaces the signature file."""
    return lambda made: made.signature.write_bytes(data)


def trust_text(text: str) -> Callable[[Deployment], object]:
    """Return what replaces the trust file."""
    return lambda made: made.trust.write_text(text, encoding="utf-8")


def trust_with(**more: Any) -> Callable[[Deployment], object]:
    """Return what adds to the trust file."""
    return lambda made: made.write_trust(entry(made.key), **more)


def key_with(**more: Any) -> Callable[[Deployment], object]:
    """Return what adds to the key in the trust file."""
    return lambda made: made.write_trust({**entry(made.key), **more})


def state(text: str) -> Callable[[Deployment], object]:
    """Return what writes the file of revisions."""
    return lambda made: made.state.write_text(text, encoding="utf-8")


def pipe(name: str) -> Callable[[Deployment], None]:
    """Return what puts a pipe in the place of a file, which must not be waited for."""

    def put(made: Deployment) -> None:
        (made.folder / name).unlink(missing_ok=True)
        os.mkfifo(made.folder / name)

    return put


MINISIGN = b"untrusted comment: signature\nRUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9Cu\ntrusted comment: file\nQtKM\n"
SEEN = '{"version": 1, "revisions": {"acme": %s}}'
CASES = [
    ("opened", lambda _: None),
    ("opened", key_with(names=["other", "acme"], not_after=LATER, comment="of 2026")),
    ("opened", trust_with(name="acme", minimum_revision={"acme": 5, "other": 9}, state=None)),
    ("opened", state(SEEN % 5)),
    ("unsigned", lambda made: made.signature.unlink()),
    ("malformed-signature", garbage(b"")),
    ("malformed-signature", garbage(b"\x00\xff" * 100)),
    ("malformed-signature", garbage(b"x" * 20_000)),
    ("malformed-signature", garbage(b"[" * 10_000)),
    ("malformed-signature", garbage(MINISIGN)),
    ("malformed-signature", garbage(b'{"signatures": []}\n')),
    ("malformed-signature", pipe("acme.octoc.sig")),
    ("malformed-signature", edited(lambda one: one.update(more=1))),
    ("malformed-signature", edited(lambda one: one["signatures"].append(one["signatures"][0]))),
    ("malformed-signature", edited(lambda one: one["signatures"][0].update(keyid=["a"]))),
    ("malformed-signature", edited(lambda one: one.update(payload=7))),
    ("malformed-signature", lambda made: made.signature.write_bytes(made.signature.read_bytes() + b"\n")),
    ("malformed-signature", lambda made: made.signature.write_bytes(made.signature.read_bytes()[:-1] + b" ")),
    ("malformed-signature", unused_bit),
    ("malformed-signature", edited(lambda one: one["signatures"][0].update(keyid="\x1b[31m\n"))),
    ("malformed-signature", other_payload),
    ("malformed-signature", no_statement),
    ("malformed-signature", lambda made: made.sign(revision=0)),
    ("malformed-signature", lambda made: made.sign(expires="tomorrow")),
    ("altered", lambda made: made.sign(size=10**18)),
    ("altered", lambda made: made.sign(size=-1)),
    ("other-algorithm", of_curve),
    ("other-algorithm", edited(lambda one: one["signatures"][0].update(sig=""))),
    ("wrong-signature", edited(lambda one: one["signatures"][0].update(sig=b64encode(bytes(64)).decode()))),
    ("wrong-signature", relabelled),
    ("wrong-signature", two_keys),
    ("wrong-signature", key_of_another),
    ("unknown-key", lambda made: made.sign(by=OTHER)),
    ("unknown-key", lambda made: made.write_trust(entry(OTHER))),
    ("unknown-key", edited(lambda one: one["signatures"][0].update(keyid="0" * 16))),
    ("key-expired", key_with(not_after=EARLIER)),
    ("name-not-allowed", key_with(names=["other"])),
    ("name-not-allowed", key_with(names=[])),
    ("other-name", lambda made: made.sign(bundle_named("other"), name="other")),
    ("other-name", lambda made: made.sign(bundle_named("other"))),
    ("other-name", trust_with(name="other")),
    ("expired", lambda made: made.sign(expires=EARLIER)),
    ("rolled-back", trust_with(minimum_revision={"acme": 6})),
    ("rolled-back", state(SEEN % 6)),
    ("altered", lambda made: made.bundle.write_bytes(SMALL + b"\0")),
    ("altered", lambda made: made.bundle.write_bytes(SMALL[:-1])),
    ("altered", lambda made: made.bundle.write_bytes(b"")),
    ("altered", lambda made: made.bundle.write_bytes(bundle_named("acmf"))),
    ("bad-trust-file", lambda made: made.trust.unlink()),
    ("bad-trust-file", pipe("trust.json")),
    ("bad-trust-file", trust_text("")),
    ("bad-trust-file", trust_text("[]")),
    ("bad-trust-file", trust_text("[" * 100_000)),
    ("bad-trust-file", trust_text('{"version": 2, "keys": []}')),
    ("bad-trust-file", trust_text('{"version": true, "keys": []}')),
    ("bad-trust-file", trust_text('{"version": 1}')),
    ("bad-trust-file", trust_text('{"version": 1, "keys": [1]}')),
    ("bad-trust-file", trust_text('{"version": 1, "version": 1, "keys": []}')),
    ("bad-trust-file", lambda made: made.write_trust()),
    ("bad-trust-file", lambda made: made.write_trust(entry(made.key), entry(made.key))),
    ("bad-trust-file", trust_with(minimum_revisions={})),
    ("bad-trust-file", trust_with(minimum_revision={"acme": "6"})),
    ("bad-trust-file", key_with(not_aftr=EARLIER)),
    ("bad-trust-file", key_with(not_after="2027-01-01")),
    ("bad-trust-file", key_with(id="0" * 16)),
    ("bad-trust-file", key_with(public_key="????")),
    ("bad-trust-file", key_with(public_key="é")),
    ("bad-trust-file", key_with(public_key=b64encode(bytes(33)).decode())),
    ("bad-revisions", state("{}")),
    ("bad-revisions", state("")),
    ("bad-revisions", state('{"version": 2, "revisions": {}}')),
    ("bad-revisions", state(SEEN % '"6"')),
    ("bad-revisions", pipe("trust.state.json")),
    ("bad-revisions", trust_with(state="trust.json/below")),
]


@pytest.mark.parametrize("kind, change", CASES)
def test_each_way_to_be_wrong_has_its_own_reason(
    deployment: Deployment, kind: str, change: Callable[[Deployment], object]
) -> None:
    """One change of a sound deployment is refused for its reason, with a place and a next step."""
    change(deployment)
    assert deployment.kind() == kind


def test_without_a_trust_file_any_bundle_opens(deployment: Deployment) -> None:
    """A signature is not looked at unless trust is configured, and no revision is remembered."""
    deployment.signature.write_bytes(b"garbage")
    with OpenBundle.open(deployment.bundle) as opened:
        assert opened.bundle.name == "acme"
    assert not deployment.state.exists()


def test_the_encoding_is_that_of_dsse(deployment: Deployment) -> None:
    """The signed bytes are those of the test vector in DSSE's protocol, and lengths are in bytes."""
    assert to_sign("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert to_sign("é", "ü".encode()) == b"DSSEv1 2 \xc3\xa9 2 \xc3\xbc"
    fields = json.loads(deployment.signature.read_bytes())
    assert fields.keys() == {"payload", "payloadType", "signatures"}
    assert json.loads(b64decode(fields["payload"]))["revision"] == 5


def test_keys_rotate(deployment: Deployment) -> None:
    """While a trust file has both keys, bundles of either open; without the old one only those of the new one."""
    deployment.write_trust(entry(deployment.key), entry(OTHER))
    assert deployment.kind() == "opened"
    deployment.sign(by=OTHER, revision=6)
    assert deployment.kind() == "opened"
    deployment.write_trust(entry(OTHER))
    assert deployment.kind() == "opened"
    deployment.sign(revision=7)
    assert deployment.kind() == "unknown-key"


def test_the_highest_revision_is_remembered_when_a_bundle_was_taken(deployment: Deployment, tmp_path: Path) -> None:
    """A revision counts from the bundle that was opened: a refused one leaves no trace, other names stay."""
    deployment.state.write_text('{"version": 1, "revisions": {"other": 3}}', encoding="utf-8")
    deployment.sign(bundle_named("other"), revision=99)
    assert deployment.kind() == "other-name"
    deployment.sign(revision=8)
    assert deployment.kind() == "opened"
    assert json.loads(deployment.state.read_bytes())["revisions"] == {"acme": 8, "other": 3}
    deployment.sign(revision=7)
    assert deployment.kind() == "rolled-back"
    deployment.write_trust(entry(deployment.key), state="elsewhere/revisions.json")
    assert deployment.kind() == "opened"
    assert json.loads((tmp_path / "elsewhere" / "revisions.json").read_bytes())["revisions"] == {"acme": 7}


def test_a_state_that_cannot_be_written_is_needed_only_for_a_new_revision(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a read-only disk a remembered revision opens, and a new one is refused unless `state` is null."""

    def read_only(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    assert deployment.kind() == "opened"
    monkeypatch.setattr("octoc.trust.revisions.write_whole", read_only)
    assert deployment.kind() == "opened"
    deployment.sign(revision=6)
    assert deployment.kind() == "bad-revisions"
    deployment.write_trust(entry(deployment.key), state=None, minimum_revision={"acme": 6})
    assert deployment.kind() == "opened"
    deployment.sign(revision=5)
    assert deployment.kind() == "rolled-back"


def test_another_process_may_take_a_newer_bundle_meanwhile(deployment: Deployment) -> None:
    """The revision is compared again when it is written, so that the file never goes back."""
    signed = read_verified(deployment.bundle, deployment.trust)
    deployment.state.write_text(SEEN % 6, encoding="utf-8")
    with pytest.raises(UntrustedBundleError, match="it is an older bundle"):
        signed.take("acme")
    assert json.loads(deployment.state.read_bytes())["revisions"] == {"acme": 6}


@pytest.mark.parametrize("name", ["acme.octoc", "acme.octoc.sig"])
def test_each_changed_byte_is_refused(deployment: Deployment, name: str) -> None:
    """Whichever byte of a bundle or of its signature is flipped, the bundle is refused, and no parser sees it."""
    path = deployment.folder / name
    data = path.read_bytes()
    kinds = set()
    for place in range(len(data)):
        for bits in (0xFF,) if path == deployment.bundle else (0x01, 0x20):
            path.write_bytes(data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :])
            kind = deployment.kind()
            assert kind != "opened", (place, bits)
            kinds.add(kind)
    if path == deployment.bundle:
        assert kinds == {"altered"}
    else:
        assert kinds == {"malformed-signature", "unknown-key", "wrong-signature"}
    path.write_bytes(data)
    assert deployment.kind() == "opened"


def test_the_bytes_that_were_verified_are_those_that_open(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is replaced while it is opened is read once: what opens is what was verified."""

    def replaced(data: bytes) -> str:
        deployment.bundle.write_bytes(bundle_named("evil"))
        return sha256_hex(data)

    monkeypatch.setattr("octoc.trust.check.sha256_hex", replaced)
    with OpenBundle.open(deployment.bundle, "full", trust=deployment.trust) as opened:
        assert opened.bundle.name == "acme"
        assert opened.bundle.agents[0].name == "a"
    assert deployment.bundle.read_bytes() != SMALL
