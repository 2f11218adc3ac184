"""The built-in resolvers: variables, files, the keyring and credential ids, and what they say when they cannot."""

import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backend
import keyring.errors
import pytest

from octoc.bundle.model import ServerEntry
from octoc.plugin import PluginError, hookimpl
from octoc.plugin.manager import Plugins
from octoc.plugin.protocols import ServerTarget
from octoc.plugin.resolvers import MAX_FILE_BYTES
from octoc.plugin.targets import NotReadyError, make_target

SECRET = "hunter2-of-the-file"


class MemoryKeyring(keyring.backend.KeyringBackend):
    """A keyring of this process alone; `locked` fails as one that the user did not open."""

    priority = 1.0
    entries: dict[tuple[str, str], str]

    def get_password(self, service: str, username: str) -> str | None:
        if service == "locked":
            raise keyring.errors.KeyringLocked(f"the secret is {SECRET}")
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


@pytest.fixture
def entries() -> Iterator[dict[tuple[str, str], str]]:
    """The entries of a keyring in memory, which is the system's for as long as the test runs."""
    before = keyring.get_keyring()
    backend = MemoryKeyring()  # type: ignore[no-untyped-call]  # an untyped package
    backend.entries = {}
    keyring.set_keyring(backend)
    yield backend.entries
    keyring.set_keyring(before)


def target(text: str, workspace: Path, env: dict[str, str] | None = None, *objects: object) -> ServerTarget:
    """The target of a server with one header."""
    entry = ServerEntry(name="s", transport="http", url="https://h.example", headers={"Authorization": text})
    return make_target(entry, Plugins(env=env or {}, objects=objects).resolve_secret, workspace, production=False)


def header(text: str, workspace: Path, env: dict[str, str] | None = None, *objects: object) -> str:
    """What a header's references are resolved to; each value is a secret of the target, and not in its repr."""
    made = target(text, workspace, env, *objects)
    assert made.secrets
    assert all(value in made.headers["Authorization"] for value in made.secrets)
    assert not any(value in repr(made) for value in made.secrets)
    return made.headers["Authorization"]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_file_is_its_text(tmp_path: Path, end: str) -> None:
    """`${file:…}` is a file's text without the line's end, by absolute path or from the workspace on."""
    (tmp_path / "token").write_text(SECRET + end, encoding="utf-8", newline="")
    for path in ("token", "./token", f"{tmp_path}/token", "${workspaceFolder}/token"):
        assert header(f"Bearer ${{file:{path}}}", tmp_path) == f"Bearer {SECRET}"


def test_a_file_that_cannot_hold_a_secret_is_reported(tmp_path: Path) -> None:
    """A missing, empty, large, undecodable or special file is reported by its path, never by its content."""
    (tmp_path / "empty").touch()
    (tmp_path / "large").write_text(SECRET * MAX_FILE_BYTES, encoding="utf-8")
    (tmp_path / "bytes").write_bytes(SECRET.encode() + b"\xff")
    os.mkfifo(tmp_path / "pipe")
    for name, why in {
        "none": f"needs `file:none`, which is not there; looked in `{tmp_path}/none`",
        "empty": f"needs `file:empty`, which is not there; looked in `{tmp_path}/empty`",
        "large": f"the file `{tmp_path}/large` cannot be read: it is larger than 64 KiB",
        "bytes": f"the file `{tmp_path}/bytes` cannot be read: it is not UTF-8",
        "pipe": f"the file `{tmp_path}/pipe` cannot be read: it is not a regular file",
        ".": f"the file `{tmp_path}` cannot be read: it is not a regular file",
        "large/below": f"the file `{tmp_path}/large/below` cannot be read: Not a directory",
    }.items():
        with pytest.raises(NotReadyError) as raised:
            target(f"${{file:{name}}}", tmp_path)
        assert why in str(raised.value)
        assert SECRET not in str(raised.value)
        assert raised.value.__cause__ is None


def test_a_default_of_a_file(tmp_path: Path) -> None:
    """A missing file takes its default; a file that cannot be read as a secret does not."""
    assert target("Bearer ${file:none:-dummy}", tmp_path).headers == {"Authorization": "Bearer dummy"}
    with pytest.raises(NotReadyError, match="not a regular file"):
        target("Bearer ${file:.:-dummy}", tmp_path)


def test_an_entry_of_the_keyring(tmp_path: Path, entries: dict[tuple[str, str], str]) -> None:
    """`${keyring:SERVICE/USER}` is what the keyring holds; the user's name may have a slash."""
    entries["acme", "me"] = SECRET
    entries["acme", "https://h.example/me"] = "another-one"
    assert header("Bearer ${keyring:acme/me}", tmp_path) == f"Bearer {SECRET}"
    assert header("${keyring:acme/https://h.example/me}", tmp_path) == "another-one"
    with pytest.raises(NotReadyError, match=r"^server `s` needs `keyring:acme/you`, which is not there$"):
        target("${keyring:acme/you}", tmp_path)


@pytest.mark.usefixtures("entries")
def test_a_keyring_that_is_locked(tmp_path: Path) -> None:
    """What a keyring says of its failure is not repeated: its kind is enough."""
    with pytest.raises(NotReadyError, match="`keyring:locked/me` cannot be read: the keyring refused it") as raised:
        target("${keyring:locked/me}", tmp_path)
    assert SECRET not in str(raised.value)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `keyring` is not installed, the message says what to install."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(
        NotReadyError, match=r"`keyring:acme/me` needs the package `keyring`: install `octoc\[keyring\]`"
    ):
        target("${keyring:acme/me}", tmp_path)


def test_a_credential_by_its_id(tmp_path: Path) -> None:
    """`${cred:ID}` is the variable `OCTOC_CREDENTIAL_<ID>`, where no plugin knows the credential."""
    assert header("Bearer ${cred:17}", tmp_path, {"OCTOC_CREDENTIAL_17": SECRET}) == f"Bearer {SECRET}"
    with pytest.raises(NotReadyError, match=r"^server `s` needs `cred:17`, which is not there$"):
        target("${cred:17}", tmp_path)


class Vault:
    """A plugin that knows every reference, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @hookimpl
    def octoc_resolve_secret(self, reference: str) -> str | None:
        self.asked.append(reference)
        return f"vault-{len(self.asked)}"


def test_plugins_are_asked_first(tmp_path: Path) -> None:
    """A plugin gets each reference before the built-in resolvers: a file by its absolute path, the others whole."""
    vault = Vault()
    texts = "${file:t} ${keyring:a/b} ${cred:3} ${TOKEN} ${input:key}"
    assert header(texts, tmp_path, {"TOKEN": "no"}, vault) == "vault-1 vault-2 vault-3 vault-4 vault-5"
    assert vault.asked == [f"file:{tmp_path}/t", "keyring:a/b", "cred:3", "TOKEN", "key"]


class Sealed:
    """A plugin that cannot answer."""

    @hookimpl
    def octoc_resolve_secret(self, reference: str) -> str | None:
        raise PluginError(f"the vault has no answer to `{reference}`: run `vault unseal`")


def test_a_plugin_that_cannot_answer(tmp_path: Path) -> None:
    """What a resolver says of a failure is the reason why the server is not ready."""
    with pytest.raises(NotReadyError, match=r"^server `s` is not ready: the vault has no answer to `cred:3`: run"):
        target("${cred:3}", tmp_path, None, Sealed())


class Leaky:
    """A plugin whose own failure has the secret in it."""

    @hookimpl
    def octoc_resolve_secret(self, reference: str) -> str | None:
        raise ValueError(f"{reference} is {SECRET}")


def test_a_plugin_that_fails(tmp_path: Path) -> None:
    """A resolver's own failure is reported without its text, which may hold the value."""
    with pytest.raises(NotReadyError) as raised:
        target("${cred:3}", tmp_path, None, Leaky())
    assert str(raised.value) == "server `s` is not ready: a plugin failed to resolve `cred:3`"
    assert SECRET not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize(
    "fields, login",
    [
        ({"auth": {"type": "oauth"}}, "run `octoc auth login s`"),
        ({"auth": {"CLIENT_ID": "x"}}, "run `octoc auth login s`"),
        ({}, "run `octoc auth login s`"),
        ({"auth": {"type": "bearer", "token": "${file:t}"}}, "look at what `file:t` holds"),
        ({"auth": {"type": "client_credentials", "client_secret_env": "S"}}, "look at what `S` holds"),
        ({"headers": {"Authorization": "Bearer ${A}${B}", "X-Region": "${R}"}}, "look at what `A`, `B` holds"),
        ({"headers": {"X-Mine": "${A}"}}, "look at what `A` holds"),
        ({"headers": {"Authorization": "Bearer literal"}}, ""),
        ({"transport": "stdio", "command": "c"}, ""),
    ],
)
def test_what_to_do_about_a_refusal(tmp_path: Path, fields: dict[str, object], login: str) -> None:
    """A target says what brings credentials: a login, or the references that hold the wrong ones, never a value."""
    (tmp_path / "t").write_text(SECRET, encoding="utf-8")
    entry = ServerEntry(**{"name": "s", "transport": "http", **fields})  # type: ignore[arg-type]
    made = make_target(
        entry,
        dict.fromkeys("ABRS", SECRET).get if "file:" not in str(fields) else lambda _: SECRET,
        tmp_path,
        production=False,
    )
    assert made.login == login


def test_octos_name_of_a_variable(tmp_path: Path) -> None:
    """`client_secret_env` names a variable; its value wins over `client_secret`, used while it is unset."""

    def auth(env: dict[str, str], **more: str) -> object:
        written = {"type": "client_credentials", "client_id": "me", "client_secret_env": "S", **more}
        entry = ServerEntry(name="s", transport="http", url="https://h.example", auth=written)
        made = make_target(entry, env.get, tmp_path, production=False)
        assert set(made.secrets) <= set(env.values())
        return (made.auth or {}).get("client_secret")

    assert auth({"S": SECRET}) == SECRET
    assert auth({"S": SECRET}, client_secret="other") == SECRET
    assert auth({}, client_secret="other") == "other"
    with pytest.raises(NotReadyError, match="needs `S`, which is not set"):
        auth({})
