"""Values that a name makes a credential, and values that only stand for one: placeholders, paths, plain words."""

from __future__ import annotations

import re

from octoc.addresses import is_loopback
from octoc.credentials.names import is_secret_name, is_weak_name
from octoc.credentials.placeholders import is_placeholder
from octoc.credentials.references import OPAQUE
from octoc.randomness import is_hex_or_uuid, is_random

_SCHEME_WORD = r"(?:bearer|basic|token|apikey|digest|ssws|geniekey|(?:[a-z][a-z0-9]*-)+(?:bearer|token|key))"
SCHEME = rf"{_SCHEME_WORD}\s+"
_PLAIN = re.compile(r"(?i)true|false|yes|no|on|off|none|null|[-+]?[0-9.]{1,15}")
# Where a credential is kept: a path by how it begins, and what other programs' references look like.
_FILE = re.compile(
    r"(?:\.{0,2}|~|[A-Za-z]:)[\\/][^\s:;,]*\.[A-Za-z][A-Za-z0-9]{1,4}|(?:\.{1,2}|~|/[a-z][\w.-]*)(?:/[\w.@-]+)+"
    r"|[\w.-]+(?:/[\w.@-]+)+\.(?:json|p12|pem|pfx)"
)
_ELSEWHERE = re.compile(
    r"(?:op|vault|file|env|keyring|cmd|ssm|awssm|gcpsm|bws|keychain|aws-sm|secretsmanager|arn):[^\s]+"
    r"|projects/[^\s/]+/secrets/[^\s]+|process\.env\.\w+"
    r"|os\.environ\S*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
)
_NO_VALUES = frozenset({"", "bearer", "basic", "token", "digest", "apikey"})
_SHORTEST_WEAK = 16
_SCHEMED_REFERENCE = re.compile(rf"(?i:{_SCHEME_WORD})\s+{OPAQUE}+")
_CONNECTION = re.compile(r"(?i)dsn|string")
_LOGIN = re.compile(r"(?P<user>[^\s:/@=]*)(?::(?P<password>[^\s@]*))?@")
_DEFAULTS = frozenset({
    *("postgres", "root", "admin", "guest", "minioadmin", "neo4j", "mysql", "mongo", "elastic", "test", "demo", "dev"),
    *("password", "pass", "secret", "changeme", "example", "user", "local", "docker"),
})  # fmt: skip
_CONTAINER_NETWORK = re.compile(r"host\.docker\.internal\Z|172\.(?:1[6-9]|2\d|3[01])\.")
_EXAMPLE_LOGIN = re.compile(r"(?:user|username):(?:password|pass|passwd)")


def is_held(name: str, raw: str) -> bool:
    """Tell whether a value, of which references are opaque, is a credential when something of this name holds it."""
    if _SCHEMED_REFERENCE.fullmatch(raw.strip().strip("\"'")):
        return False
    literal = re.sub(rf"\A(?i:{SCHEME})", "", raw.replace(OPAQUE, "").strip().strip("\"'")).strip()
    # A reference in the default of another leaves a closing brace.
    is_empty = literal.lower() in _NO_VALUES or not any(map(str.isalnum, literal))
    if is_empty or literal.startswith("$") or is_harmless(literal):
        return False
    if is_secret_name(name):
        # Only a part of an address, or of a list of settings, is one. The search looks for that part by itself.
        if "://" in literal or not _CONNECTION.search(name):
            return "://" not in literal
        if login := _LOGIN.match(literal):
            return bool(login["password"]) and not is_example_login(login["user"], login["password"])
        return re.search(r"\w=[^=]", literal) is None
    return (
        is_weak_name(name)
        and len(literal) >= _SHORTEST_WEAK
        and "/" not in literal.strip("/")
        and (is_hex_or_uuid(literal) or _is_mixed(literal))
    )


def _is_mixed(literal: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_+/=.~-]+", literal) is not None and sum(map(str.isdigit, literal)) >= 3


def is_example_login(user: str, password: str, host: str = "") -> bool:
    """Tell whether a login is the one of examples, such as `user:password`, or a default one of a local server."""
    return _EXAMPLE_LOGIN.fullmatch(f"{user}:{password}") is not None or (
        is_local(host) and is_default_password(user, password)
    )


def is_default_password(user: str, password: str) -> bool:
    """Tell whether a password comes with a program or a demonstration: it repeats the user, or everyone knows it."""
    return password.lower() in _DEFAULTS or password == user.partition("@")[0]


def is_local(host: str) -> bool:
    """Tell whether a host, perhaps with a port, is this machine or a neighbour in a container's network."""
    name = host.rpartition(":")[0] if re.search(r":[0-9]+\Z", host) else host
    return bool(name) and (
        is_loopback(name)
        or _CONTAINER_NETWORK.match(name) is not None
        or re.fullmatch(r"[A-Za-z][\w-]*", name) is not None
    )


def is_harmless(literal: str, *, in_url: bool = False) -> bool:
    """Return whether a value can never be a credential: a placeholder, a reference, a plain word or a path.

    Args:
        in_url: the value stands in an address, where plain words and paths are passwords too.
    """
    literal = literal.replace(OPAQUE, "")
    if not literal or literal.startswith("$") or is_placeholder(literal) or _ELSEWHERE.fullmatch(literal):
        return True
    if in_url:
        return False
    if _PLAIN.fullmatch(literal):
        return True
    return _FILE.fullmatch(literal) is not None and not any(map(is_random, literal.split("/")))


def after_scheme(text: str, start: int, end: int) -> int:
    """Return where the value in `text[start:end]` starts after a scheme such as `Bearer `."""
    match = re.match(rf"(?i:{SCHEME})", text[start:end])
    return start if match is None else start + match.end()
