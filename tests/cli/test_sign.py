"""`octoc keygen`, `octoc build --sign` and `octoc verify`, and `--trust` of commands that open a bundle."""

from __future__ import annotations

import base64
import json
import shutil
import stat
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from octoc.compiler.cache.store import workspace_cache
from octoc.testing import WorkspaceBuilder
from tests.cli.conftest import Run

PLAIN = serialization.NoEncryption()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, which is the working directory."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "octoc.toml").write_text('[workspace]\nname = "acme"\n\n[routing]\nencoder = "none"\n', encoding="utf-8")
    (folder / ".mcp.json").write_text('{"mcpServers": {"notes": {"command": "notes-mcp"}}}', encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def pem(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey, password: bytes | None = None) -> bytes:
    """Return a private key as PEM."""
    hiding = PLAIN if password is None else serialization.BestAvailableEncryption(password)
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hiding)


def test_a_bundle_is_signed_verified_and_used(octoc: Run, root: Path) -> None:
    """The commands of the page on trust work one after another, and no private byte is left anywhere."""
    ended = [
        octoc("keygen", "release.key", "--trust", "trust.json", "--comment", "of 2026"),
        octoc("build", "--sign", "release.key", "--revision", "7"),
        octoc("verify", "dist/acme.octoc", "--trust", "trust.json"),
        octoc("verify", "dist/acme.octoc", "--trust", "trust.json", "--json"),
        octoc("show", "agents", "--trust", "trust.json"),
        octoc("route", "write a note", "--trust", "trust.json"),
        octoc("find", "note", "--bundle", "dist/acme.octoc", "--trust", "trust.json"),
        octoc("serve", "--print-config", "claude", "--trust", "trust.json"),
        octoc("build", "--sign", "release.key", "--revision", "7", "--expires", "12h", "--json", "--no-cache"),
    ]
    assert [one.status for one in ended] == [0] * len(ended), ended
    assert stat.S_IMODE((root / "release.key").stat().st_mode) == 0o600
    assert "revision 7" in ended[1].out
    assert json.loads(ended[3].out)["revision"] == 7
    assert json.loads(ended[7].out)["mcpServers"]["octoc"]["args"][-2:] == ["--trust", "trust.json"]
    assert json.loads(ended[-1].out)["signature"]["revision"] == 7
    assert json.loads((root / "trust.state.json").read_bytes())["revisions"] == {"acme": 7}
    key = serialization.load_pem_private_key((root / "release.key").read_bytes(), None)
    assert isinstance(key, ed25519.Ed25519PrivateKey)
    raw = key.private_bytes_raw()
    forms = [raw, raw.hex().encode(), *(base64.b64encode(bytes(n) + raw)[n + 1 : -4] for n in range(3))]
    cache = workspace_cache(root)
    assert cache is not None
    files = [path for folder in (root, cache) for path in folder.rglob("*") if path.is_file()]
    texts = [path.read_bytes() for path in files if path.name != "release.key"]
    texts += [(one.out + one.err).encode() for one in ended]
    assert len(texts) > 15
    assert [form for form in forms for text in texts if form in text] == []
    own = (root / "release.key").read_bytes().replace(b"\n", b"")
    assert any(form in own for form in forms), "a form that is in no text would not be seen either"


def test_a_key_is_never_overwritten_and_trust_grows(octoc: Run, root: Path) -> None:
    """A second key needs another file, and joins the trust file; without `--trust` one is printed."""
    assert octoc("keygen", "one.key", "--trust", "trust.json").status == 0
    before = (root / "one.key").read_bytes()
    again = octoc("keygen", "one.key", "--trust", "trust.json")
    assert (again.status, "overwrites no key" in again.err) == (1, True)
    assert (root / "one.key").read_bytes() == before
    assert octoc("keygen", "two.key", "--trust", "trust.json").status == 0
    assert len(json.loads((root / "trust.json").read_bytes())["keys"]) == 2
    printed = octoc("keygen", "three.key")
    assert len(json.loads(printed.out)["keys"]) == 1
    (root / "trust.json").write_text("{}", encoding="utf-8")
    assert octoc("keygen", "four.key", "--trust", "trust.json").status == 1
    assert octoc("keygen", "four.key", "--trust", "one.key/trust.json").status == 1
    assert octoc("keygen", "nowhere/four.key").status == 1
    assert not (root / "four.key").exists()


def test_keys_that_cannot_sign_are_refused_before_the_build(
    octoc: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is missing, malformed, protected or of another algorithm ends the command, and nothing is built."""
    edwards = ed25519.Ed25519PrivateKey.generate()
    public = edwards.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    monkeypatch.setenv("GARBAGE", "a secret of another kind")
    for name, data in {
        "curve": pem(ec.generate_private_key(ec.SECP256R1())),
        "protected": pem(edwards, b"password"),
        "public": public,
        "garbage": b"\x00garbage",
    }.items():
        (root / name).write_bytes(data)
    expected = {
        "missing": "there is no private key `missing`",
        "curve": "another algorithm than Ed25519",
        "protected": "it has a passphrase",
        "public": "it is a public key",
        "garbage": "it is not a private key in PEM",
        "dist": "regular file",
        "env:NONE": "has no variable `NONE`",
        "env:GARBAGE": "the private key in variable `GARBAGE` cannot be used",
    }
    (root / "dist").mkdir()
    for named, words in expected.items():
        done = octoc("build", "--sign", named, "--revision", "1")
        assert (done.status, words in done.err, "help:" in done.err) == (1, True, True), done
        assert "a secret of another kind" not in done.err
    assert list((root / "dist").iterdir()) == []


def test_a_key_may_come_from_a_variable(octoc: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--sign env:NAME` signs with the key in a variable, as in CI; its text is not printed."""
    octoc("keygen", "release.key", "--trust", "trust.json")
    text = (root / "release.key").read_text(encoding="utf-8")
    monkeypatch.setenv("RELEASE_KEY", text)
    (root / "release.key").unlink()
    done = octoc("build", "--sign", "env:RELEASE_KEY", "--revision", "1")
    assert done.status == 0, done
    assert text.splitlines()[1] not in done.out + done.err
    assert octoc("verify", "dist/acme.octoc", "--trust", "trust.json").status == 0


def test_the_revision_grows_with_each_signed_bundle(octoc: Run, root: Path) -> None:
    """Another bundle needs a higher revision than the signature beside it; the same one may be signed again."""
    octoc("keygen", "release.key")
    sign = ("build", "--sign", "release.key", "--revision")
    assert octoc(*sign, "2").status == 0
    assert octoc(*sign, "2").status == 0
    lower = octoc(*sign, "1")
    assert (lower.status, "has revision 2 already" in lower.err, "`--revision 3`" in lower.err) == (1, True, True)
    (root / ".mcp.json").write_text('{"mcpServers": {"notes": {"command": "other-mcp"}}}', encoding="utf-8")
    assert octoc(*sign, "2").status == 1
    assert octoc(*sign, "3").status == 0
    (root / "dist" / "acme.octoc.sig").write_bytes(b"garbage")
    assert octoc(*sign, "1").status == 0


@pytest.mark.parametrize(
    "options, words",
    [
        (["--sign", "release.key"], "--sign needs --revision"),
        (["--sign", "release.key", "--revision", "0"], "--revision"),
        (["--sign", "release.key", "--revision", "99999999999999999"], "9007199254740991 at most"),
        (["--sign", "release.key", "--revision", "1", "--expires", "0d"], "such as `90d`"),
        (["--sign", "release.key", "--revision", "1", "--expires", "soon"], "such as `90d`"),
        (["--sign", "release.key", "--revision", "1", "--expires", "9999999999w"], "too far in the future"),
        (["--sign", "release.key", "--revision", "1", "--locked"], "nothing to --sign"),
        (["--revision", "1"], "are for --sign"),
        (["--expires", "1d"], "are for --sign"),
    ],
)
def test_options_of_signing_are_checked(octoc: Run, root: Path, options: list[str], words: str) -> None:
    """A wrong combination of options is a usage error before anything is built."""
    octoc("keygen", "release.key")
    done = octoc("build", *options)
    assert (done.status, words in done.err) == (2, True), done
    assert not (root / "dist").exists()


def test_the_next_revision_is_named(octoc: Run, root: Path) -> None:
    """A build that leaves an old signature warns with the command that signs anew; so does one without a revision."""
    octoc("keygen", "release.key")
    assert "signs an earlier" not in octoc("build", "--sign", "release.key", "--revision", "7").err
    assert "signs an earlier" not in octoc("build").err
    done = octoc("build", "--sign", "release.key")
    assert (done.status, "after revision 7 of `acme` the next is 8" in done.err) == (2, True), done
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": {"other": {"command": "other-mcp"}}}), encoding="utf-8")
    done = octoc("build")
    command = "run `octoc build --sign KEY --revision 8`"
    assert (done.status, "`acme.octoc.sig` signs an earlier bundle (revision 7)" in done.err) == (0, True), done
    assert command in done.err


def test_a_build_with_errors_is_not_signed(octoc: Run, root: Path) -> None:
    """The bundle of everything sound is written and stays unsigned, and the exit status is 1 with any `--fail-on`."""
    octoc("keygen", "release.key", "--trust", "trust.json")
    servers = {"notes": {"command": "notes-mcp"}, "broken": {"args": [1]}}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    done = octoc("build", "--sign", "release.key", "--revision", "1", "--fail-on", "none")
    assert (done.status, "is not signed, because the build has errors" in done.err) == (1, True), done
    assert not (root / "dist" / "acme.octoc.sig").exists()
    refused = octoc("show", "--trust", "trust.json")
    assert (refused.status, "OCT768" in refused.err, "--sign KEY" in refused.err) == (1, True, True), refused


def test_verify_says_why(octoc: Run, root: Path) -> None:
    """A refusal has its code, reason, place and next step, as text and as JSON, and the exit status 1."""
    octoc("keygen", "release.key", "--trust", "trust.json")
    octoc("build")
    done = octoc("verify", "dist/acme.octoc", "--trust", "trust.json")
    assert done.status == 1
    for words in ("OCT768", "there is no `dist/acme.octoc.sig`", "--> dist/acme.octoc", "help: sign it"):
        assert words in done.err
    found = json.loads(octoc("verify", "dist/acme.octoc", "--trust", "trust.json", "--json").out)
    assert (found["ok"], found["kind"], found["code"]) == (False, "unsigned", "OCT768")
    found = json.loads(octoc("verify", "dist/none.octoc", "--trust", "trust.json", "--json").out)
    assert (found["kind"], found["code"]) == ("bundle", "OCT601")
    assert octoc("verify", "dist/acme.octoc").status == 2


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["route", "hi"],
        ["find", "hi"],
        ["call", "notes", "note"],
        ["serve"],
        ["auth", "status"],
        ["test", "first.toml"],
        ["serve", "--print-config", "claude"],
    ],
)
def test_each_command_that_opens_a_bundle_refuses_an_untrusted_one(octoc: Run, root: Path, words: list[str]) -> None:
    """`--trust` refuses an unsigned bundle in each command, with the reason and without a traceback."""
    (root / "first.toml").write_text("[[message]]\ntext = 'hi'\nexpect = 'notes'\n", encoding="utf-8")
    octoc("keygen", "release.key", "--trust", "trust.json")
    octoc("build")
    done = octoc(*words, "--bundle", "dist/acme.octoc", "--trust", "trust.json")
    assert (done.status, "OCT768" in done.err) == (1, True), done


def test_a_missing_package_is_named(octoc: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `cryptography` a command with a trust file ends with what to install, and opens nothing."""
    octoc("keygen", "release.key", "--trust", "trust.json")
    octoc("build", "--sign", "release.key", "--revision", "1")
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    done = octoc("show", "--trust", "trust.json")
    assert (done.status, "[sign]" in done.err, done.out) == (2, True, ""), done


def test_two_folders_give_the_same_bytes(
    octoc: Run, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One workspace in two folders, of other names and depths, gives one digest: either signature fits either file."""
    other = tmp_path / "deeper" / "under" / "another name"
    shutil.copytree(root, other)
    octoc("keygen", "../release.key", "--trust", "../trust.json")
    for folder in (root, other):
        monkeypatch.chdir(folder)
        assert octoc("build", "--no-cache", "--sign", str(tmp_path / "release.key"), "--revision", "1").status == 0
    one, two = (folder / "dist" / "acme.octoc" for folder in (root, other))
    assert one.read_bytes() == two.read_bytes()
    shutil.copy(two.with_name("acme.octoc.sig"), one.with_name("acme.octoc.sig"))
    assert octoc("verify", str(one), "--trust", str(tmp_path / "trust.json")).status == 0


def test_two_folders_give_the_same_bytes_with_everything_in_them(tmp_path: Path) -> None:
    """A workspace with taps, skills, scripts, snapshots and vectors gives the same bytes in two folders."""
    found = []
    for folder in (tmp_path / "one", tmp_path / "two" / "deeper and longer"):
        skills = {"paths": ["skills"], "validate": "run"}
        builder = WorkspaceBuilder(folder, runtime={"deps": "run"}, routing={"gate": "octomind"}, skills=skills)
        note = {"name": "note", "description": "Writes a note", "inputSchema": {"type": "object", "title": "Note"}}
        builder.server("notes", "node", "${workspaceFolder}/servers/main.js").snapshot("notes", [note])
        builder.capability("notes", ["write a note", "show my notes"], server="notes", tap="acme")
        builder.agent("writer", tools=["notes/note"]).file("servers/main.js", "#!/usr/bin/env node\n")
        builder.file("skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up\n---\n\nTidy up.\n")
        builder.file("skills/tidy/validate", "true\n")
        outcome = builder.build()
        assert outcome.bundle is not None
        found.append(outcome.bundle.read_bytes())
    assert found[0] == found[1]
    assert b"Tidy up" in found[0]
    assert str(tmp_path).encode() not in found[0]
