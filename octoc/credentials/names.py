"""Names of variables, headers, flags and keys that hold credentials."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = frozenset({
    "token", "tokens", "secret", "secrets", "password", "passwd", "passphrase", "passcode", "pwd", "apikey", "apikeys",
    "credential", "credentials", "authorization", "bearer", "cookie", "cookies", "pat", "dsn", "jwt",
})  # fmt: skip
_ENDS = ("token", "password", "passwd", "secret", "apikey")
_PHRASES = (
    *("api_key", "access_key", "private_key", "secret_key", "auth_key", "shared_access_key", "account_key"),
    *("connection_string", "conn_string", "master_key", "service_key", "role_key", "signing_key", "encryption_key"),
)
# Names that hold a credential as often as something else: the value decides.
_WEAK = frozenset({"key", "keys", "auth", "sig", "signature", "session", "sid", "pass", "pw", "psw", "license"})
_PUBLIC = frozenset({"public", "publishable", "anon"})
# `MAX_TOKENS`, `TOKEN_LIMIT`, `SECRET_PATH`: the last word says that the value is about a secret.
_HARMLESS_ENDINGS = frozenset({
    "limit", "limits", "count", "max", "size", "url", "uri", "path", "file", "dir", "mode", "type", "name", "id",
    "ttl", "timeout", "env", "header", "budget", "enabled", "length", "endpoint", "host", "port", "scope", "scopes",
    "command", "cmd", "arn", "provider", "method", "style", "prefix", "format", "var", "variable", "source", "audience",
})  # fmt: skip
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


@lru_cache(maxsize=2048)
def is_secret_name(name: str) -> bool:
    """Tell whether a variable, header, flag or key of this name holds a secret."""
    words = [word.lower() for word in _SEPARATORS.split(name) if word]
    if not words or words[-1] in _HARMLESS_ENDINGS:
        return False
    if words[-1] == "tokens" and len(words) > 1:  # max_tokens, output_tokens: a count
        return False
    joined = "_".join(words)
    return (
        any(word in _WORDS for word in words)
        or any(phrase in joined for phrase in _PHRASES)
        or words[-1].endswith(_ENDS)
    )


def is_weak_name(name: str) -> bool:
    """Tell whether what this name holds is a credential as often as something else: the value decides."""
    words = [word.lower() for word in _SEPARATORS.split(name) if word]
    return bool(words) and words[-1] in _WEAK and _PUBLIC.isdisjoint(words)
