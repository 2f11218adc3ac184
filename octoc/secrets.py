"""What looks like a secret: by the name of what holds it, and by how random it is. A guess, made on the safe side.

The compiler replaces what is found by a reference; diagnostics mask it in the lines that they quote.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

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
# One inside another is the folder in `${file:${workspaceFolder}/token}`; a text that is no reference ends at the first
# brace as before.
_REFERENCE = re.compile(r"\$\{(?:file:[^{}]*\$\{[^{}]*\}[^{}]*|[^}]*)\}|\{\{[^}]*\}\}")
# A `$VAR` that should have been a reference; only where it names a secret itself, since a password may begin with `$`.
_BARE_REFERENCE = re.compile(r"(?:(?<=[\s:=])|\A)\$(?P<name>[A-Z_][A-Z0-9_]+)(?![A-Za-z0-9_])")
# Where a credential is kept: a path that says so by how it begins, and by the file that it ends in.
_FILE = re.compile(r"(?:\.{0,2}|~|[A-Za-z]:)[\\/][^\s:;,]*\.[A-Za-z][A-Za-z0-9]{1,4}")
_PLAIN = re.compile(r"(?i)true|false|yes|no|on|off|none|null|[-+]?[0-9.]{1,15}")
# A credential inside a longer text: behind a scheme, behind the name of a header or a variable, in a URL's query.
_SCHEME = r"(?:bearer|basic|token)\s+"
_CREDENTIALS = re.compile(r"(?:bearer|basic)\s+\S{8,}", re.IGNORECASE)
_HELD = re.compile(
    rf"(?:(?P<name>[A-Za-z][A-Za-z0-9_.-]*)(?:\s*=\s*|\s*:\s+)|(?P<header>[A-Z][A-Za-z0-9-]*):)"
    rf"(?:(?i:{_SCHEME}))?(?P<value>\S+)"
)
_QUERY = re.compile(r"[?&](?P<name>[^=&#\s]+)=(?P<value>[^&#\s]+)")
_URL_PARTS = re.compile(r"[/?&#=@:]+")
_TOKEN = re.compile(r"[A-Za-z0-9_+/=.~-]{20,}\Z")
_NO_VALUES = frozenset({"", "bearer", "basic", "token"})
_MIN_BITS_PER_CHARACTER = 3.6

MASK = "***"
SHORTEST_SECRET = 4
"""A value under four characters is no secret worth the harm of cutting it out of every word."""
_SHORTEST_LINE = 8
_DEEPEST = 200
_BASE64_RUN = "[A-Za-z0-9+/_-]*{}[A-Za-z0-9+/_-]*={{0,2}}"


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
    """Tell whether a value is a secret, or has one in it, whatever holds it.

    It is by a known form, a password in a URL, `Bearer …`, what a header, variable or query of a secret's name is set
    to, or by being random text, as a part of a URL may be too.
    """
    if _KNOWN.search(value) or _USERINFO.search(value) or _CREDENTIALS.fullmatch(value):
        return True
    held = _HELD.fullmatch(value)
    if held and _is_named_secret(held["name"] or held["header"], held["value"]):
        return True
    if any(_is_named_secret(found["name"], found["value"]) for found in _QUERY.finditer(value)):
        return True
    if "://" in value:
        return any(map(_is_random, _URL_PARTS.split(value)))
    return _is_random(value)


def _is_random(value: str) -> bool:
    if not _TOKEN.match(value) or "/" in value.strip("/") or value.count(".") > 2:  # a path, a host or a version
        return False
    classes = (any(c.islower() for c in value), any(c.isupper() for c in value), any(c.isdigit() for c in value))
    return sum(classes) == len(classes) and _bits_per_character(value) >= _MIN_BITS_PER_CHARACTER


def _is_named_secret(name: str, value: str) -> bool:
    literal = _REFERENCE.sub("", value)
    if literal.startswith("$") or literal.lower() in _NO_VALUES:
        return False
    return _is_named_literal(name, literal)


def _is_named_literal(name: str, literal: str) -> bool:
    return is_secret_name(name) and not _PLAIN.fullmatch(literal) and not _FILE.fullmatch(literal)


def is_literal_secret(name: str, value: str) -> bool:
    """Tell whether `value`, held by `name`, is a secret written out. A value that only refers to one is none."""
    literal = _BARE_REFERENCE.sub(
        lambda match: "" if is_secret_name(match["name"]) else match[0], _REFERENCE.sub("", value)
    ).strip()
    if literal.lower() in _NO_VALUES:
        return False
    if is_secret_value(literal):
        return True
    return _is_named_literal(name, literal)


def secret_forms(values: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that give away one of `values`, the longest first; values under SHORTEST_SECRET are left out.

    A value as it is, on one line, and each longer line of it; percent-encoded, for HTML, and as JSON, twice too, since
    JSON is quoted in JSON. What base64 makes of it is not among them: see `redact`.
    """
    import json
    from html import escape
    from urllib.parse import quote, quote_plus

    forms: set[str] = set()
    for value in values:
        if len(value) < SHORTEST_SECRET:
            continue
        encoded = {quote(value, safe=""), quote(value), quote_plus(value)}
        quoted = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
        forms |= {value, " ".join(value.split()), value.strip(), escape(value), escape(value, quote=False)}
        forms |= encoded | {re.sub("%..", lambda match: match[0].lower(), text) for text in encoded}
        forms |= quoted | {json.dumps(text)[1:-1] for text in quoted}
        forms |= {line.strip() for line in value.splitlines() if len(line.strip()) >= _SHORTEST_LINE}
    return tuple(sorted((form for form in forms if len(form) >= SHORTEST_SECRET), key=lambda form: (-len(form), form)))


def redactor(values: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces each of `values`, in every form of `secret_forms`, by `***`.

    A run of base64 that has one inside, alone or behind other text as in `user:password`, goes as a whole.
    """
    kept = tuple(dict.fromkeys(values))
    cores = tuple(core for value in kept for core in _base64_cores(value))
    forms = secret_forms(kept)

    def redacted(text: str) -> str:
        for core in cores:
            if core in text:
                text = re.sub(_BASE64_RUN.format(re.escape(core)), MASK, text)
        for form in forms:
            text = text.replace(form, MASK)
        return text

    return redacted


def redact(text: str, values: Iterable[str]) -> str:
    """Return `text` with each of `values` replaced by `***`, as `redactor` does it."""
    return redactor(values)(text)


def redact_plain(value: Any, values: Iterable[str]) -> Any:
    """Return a JSON value with every text in it, keys too, as `redact` leaves it; what lies deep down is `***`."""
    redacted = redactor(values)

    def walk(value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return redacted(value)
        if depth > _DEEPEST and isinstance(value, (Mapping, list, tuple)):
            return MASK
        if isinstance(value, Mapping):
            return {redacted(str(key)): walk(item, depth + 1) for key, item in value.items()}
        return [walk(item, depth + 1) for item in value] if isinstance(value, (list, tuple)) else value

    return walk(value, 0)


def _base64_cores(value: str) -> Iterator[str]:
    """Yield what base64 makes of a value's bytes, wherever it begins in what is encoded, without what varies."""
    import base64

    raw = value.encode("utf-8", "surrogatepass")
    if len(raw) < SHORTEST_SECRET:
        return
    for before in range(3):
        coded = base64.b64encode(bytes(before) + raw).decode()
        # Six bits a character: those that share bits with a neighbour are not the value's own.
        core = coded[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
        yield core
        if "+" in core or "/" in core:
            yield core.replace("+", "-").replace("/", "_")


_QUOTED = r""""(?:[^"\\]|\\.)*"?|'[^']*'?"""
_PAIR = re.compile(
    rf"""(?P<name>[A-Za-z][A-Za-z0-9_.-]*)(?P<between>["']?\s*[:=]\s*(?:{_SCHEME})?|["']\s+(?=["']))"""
    rf"""(?P<value>\{{\{{[^}}]*\}}\}}|\[[^\]]*\]?|\{{[^}}]*\}}?|{_QUOTED}|[^\s,;}}\]"']+)""",
    re.IGNORECASE,
)
_FLAG = re.compile(
    rf"""(?<![\w-])--?(?P<name>[A-Za-z][A-Za-z0-9_.-]*)(?P<between>["']\s*,\s*(?=["'])|\s+)"""
    rf"""(?P<value>{_QUOTED}|[^\s,;}}\]"'-][^\s,;}}\]"']*)"""
)
_LONG = re.compile(r"[A-Za-z0-9_+/=.~-]{20,}")
_LETTER = re.compile(r"[^\s\[\]{}\"',]")


def mask_secrets(line: str, before: str = "") -> str:
    """Return a line of a file with everything that looks like a secret replaced by `***` of the same length.

    The length is kept so that a column in the line still points at the same thing. `before` is the line above it,
    where the name of what this one holds may stand.
    """
    whole = f"{before}\n{line}" if before else line
    return mask_values(_mask_held(_mask_held(whole, _PAIR), _FLAG))[len(whole) - len(line) :]


def mask_values(text: str) -> str:
    """Return a message with what is a secret in any surroundings masked; names and the rest of it stay."""
    text = _USERINFO.sub(lambda match: "://" + "*" * (len(match[0]) - 4) + "@", text)
    text = _KNOWN.sub(lambda match: "*" * len(match[0]), text)
    return _LONG.sub(lambda match: "*" * len(match[0]) if _is_random(match[0]) else match[0], text)


def _mask_held(text: str, pattern: re.Pattern[str]) -> str:
    """Mask the values that `pattern` finds behind names of secrets. A value that is none may have such names in it."""
    pieces: list[str] = []
    done = start = 0
    while match := pattern.search(text, start):
        value = match["value"]
        quote = value[0] if value[0] in "\"'" else ""
        inner = value.strip(quote) if quote else value
        start = match.start("value")
        if (
            not is_secret_name(match["name"])
            or not _LETTER.search(inner)
            or not is_literal_secret(match["name"], inner)
        ):
            continue
        closed = quote if quote and len(value) > 1 and value.endswith(quote) else ""
        hidden = value[len(quote) : len(value) - len(closed)]
        pieces += (text[done:start], quote, re.sub(r"[^\n]", "*", hidden), closed)
        done = start = match.end("value")
    return "".join((*pieces, text[done:]))


def _bits_per_character(text: str) -> float:
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values())
