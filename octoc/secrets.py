"""What looks like a secret: by the name of what holds it, and by how random it is. A guess, made on the safe side.

The compiler replaces what is found by a reference; diagnostics mask it in the lines that they quote.
"""

from __future__ import annotations

import math
import re
from collections import Counter

_WORDS = frozenset({
    "token", "tokens", "secret", "secrets", "password", "passwd", "passphrase", "pwd", "apikey", "credential",
    "credentials", "authorization", "bearer", "cookie", "pat", "dsn",
})  # fmt: skip
_PHRASES = ("api_key", "access_key", "private_key", "secret_key", "auth_key", "connection_string")
# `MAX_TOKENS`, `TOKEN_LIMIT`, `SECRET_PATH`: the last word says that the value is about a secret and none itself.
_HARMLESS_ENDINGS = frozenset({
    "limit", "limits", "count", "max", "size", "url", "uri", "path", "file", "dir", "mode", "type", "name", "id",
    "ttl", "timeout", "env", "header", "budget", "enabled", "length", "endpoint", "host", "port", "scope", "scopes",
})  # fmt: skip
_KNOWN = re.compile(
    r"(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY)"
)
_USERINFO = re.compile(r"://[^/\s:@]*:[^/\s@$]{1,}@")
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_REFERENCE = re.compile(r"\$\{[^}]*\}|\{\{[^}]*\}\}")
_PLAIN = re.compile(r"(?i)true|false|yes|no|on|off|none|null|[-+]?[0-9.]{1,15}")
_TOKEN = re.compile(r"[A-Za-z0-9_+/=.~-]{20,}\Z")
_MIN_BITS_PER_CHARACTER = 3.6

MASK = "***"


def is_secret_name(name: str) -> bool:
    """Tell whether a variable, header, flag or key of this name holds a secret."""
    words = [word.lower() for word in _SEPARATORS.split(name) if word]
    if not words or words[-1] in _HARMLESS_ENDINGS:
        return False
    if words[-1] == "tokens" and len(words) > 1:  # max_tokens, output_tokens: a count
        return False
    joined = "_".join(words)
    return any(word in _WORDS for word in words) or any(phrase in joined for phrase in _PHRASES)


def is_secret_value(value: str) -> bool:
    """Tell whether a value is a secret whatever holds it: a known form, a password in a URL, or random text."""
    if _KNOWN.search(value) or _USERINFO.search(value):
        return True
    if not _TOKEN.match(value) or "/" in value.strip("/") or value.count(".") > 2:  # a path, a host or a version
        return False
    classes = (any(c.islower() for c in value), any(c.isupper() for c in value), any(c.isdigit() for c in value))
    return sum(classes) == len(classes) and _bits_per_character(value) >= _MIN_BITS_PER_CHARACTER


def is_literal_secret(name: str, value: str) -> bool:
    """Tell whether `value`, held by `name`, is a secret written out. A value that only refers to one is none."""
    literal = _REFERENCE.sub("", value).strip()
    if literal.lower() in ("", "bearer", "basic", "token"):
        return False
    if is_secret_value(literal):
        return True
    return is_secret_name(name) and not _PLAIN.fullmatch(literal)


_PAIR = re.compile(
    r"""(?P<name>[A-Za-z][A-Za-z0-9_.-]*)(?P<between>["']?\s*[:=]\s*)(?P<value>"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;}"']+)"""
)
_LONG = re.compile(r"[A-Za-z0-9_+/=.~-]{20,}")


def mask_secrets(line: str) -> str:
    """Return a line of a file with everything that looks like a secret replaced by `***` of the same length.

    The length is kept so that a column in the line still points at the same thing.
    """

    def pair(match: re.Match[str]) -> str:
        value = match["value"]
        quote = value[0] if value[0] in "\"'" else ""
        inner = value.strip(quote) if quote else value
        if not inner or not is_literal_secret(match["name"], inner):
            return match[0]
        closed = quote if quote and len(value) > 1 and value.endswith(quote) else ""
        return match["name"] + match["between"] + quote + "*" * (len(value) - len(quote) - len(closed)) + closed

    def lone(match: re.Match[str]) -> str:
        return "*" * len(match[0]) if is_secret_value(match[0]) else match[0]

    masked = _PAIR.sub(pair, line)
    masked = _USERINFO.sub(lambda match: "://" + "*" * (len(match[0]) - 4) + "@", masked)
    masked = _KNOWN.sub(lambda match: "*" * len(match[0]), masked)
    return _LONG.sub(lone, masked)


def _bits_per_character(text: str) -> float:
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values())
