"""Finds credentials that are written out in a text: by what holds them, by their form, and by where they stand.

It is a guess, made on the safe side. The compiler replaces what is found by references; `octoc.masking` hides it in
everything that is printed.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote

import attrs

from octoc.randomness import is_hex_or_uuid, is_random

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
    "command", "cmd", "provider", "method", "style", "prefix", "format", "var", "variable", "source", "audience",
})  # fmt: skip
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")

_PEM = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.)*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY")
_KEY_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\\ \r\n\t"
_KNOWN = re.compile(
    rf"(?:{_PEM}|(?<![A-Za-z0-9])(?:"
    r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}|[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|gl(?:pat|rt|dt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_-]{16,}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}|xoxe\.[A-Za-z0-9.-]{10,}|xapp-[A-Za-z0-9-]{10,}"
    r"|(?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}"
    r"|ya29\.[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|hf_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{32,}|shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{32}|sq0[a-z]{3}-[A-Za-z0-9_-]{20,}"
    r"|(?:lin|ntn|fc|tvly|gsk|xai|pplx|figd|sbp|nvapi|phx|pat|key|secret|r8|BSA|ctx7sk|re|nfp|sntry[su])"
    r"(?:_api)?[_-](?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}|dapi[a-f0-9]{32}|BSA(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{25,}"
    r"|ATATT3[A-Za-z0-9_=-]{20,}|dckr_pat_[A-Za-z0-9_-]{20,}|AGE-SECRET-KEY-[0-9A-Z]{20,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"
    r"|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|SK[a-f0-9]{32}"
    r"))"
)
_WEBHOOK = re.compile(
    r"(?:hooks\.slack\.com/(?:services|triggers|workflows)|discord(?:app)?\.com/api/webhooks/[0-9]+"
    r"|[\w.-]+\.webhook\.office\.com/\w+|hooks\.zapier\.com/hooks/catch|api\.telegram\.org)/(?P<value>[^\s\"'?#]+)"
)
_USERINFO = re.compile(r"://(?P<user>[^/\s:@?#\"']*)(?::(?P<value>[^/\s\"']*))?@")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,20})://(?P<host>[^/\s\"'?#]*)(?P<path>/[^\s\"'?#`]*)")
_QUERY = re.compile(r"[?&](?P<name>[^=&#\s\"'?]{1,100})=(?P<value>[^&#\s\"'`]+)")
_SCHEME = r"(?:bearer|basic|token|apikey|api-key|digest)\s+"
_ASSIGNED = re.compile(
    r"(?<![\w.$-])(?:--?)?(?P<name>[A-Za-z_][\w.-]{0,99})(?P<between>\\*[\"']\s*[:=]\s*|\s*=\s*|:\s+|:(?!//))"
)
_ASSIGNED_VALUE = re.compile(rf"\\+\"(?:[^\"\\]|\\(?!\"))*|\"(?:[^\"\\]|\\.)*|'[^']*|(?i:{_SCHEME})?[^\s\"'&;`]+")
_FLAGGED = re.compile(r"(?<![\w-])--?(?P<name>[A-Za-z][\w.-]{0,99})(?:\\*[\"']\s*,\s*\\*(?=[\"'])|\s+)")
_FLAGGED_VALUE = re.compile(r"\\*\"(?:[^\"\\]|\\.)*|'[^']*|[^\s\"'`,-][^\s\"'`,]*")
_LONGEST_WEAK = 400
_SCHEMED = re.compile(
    r"(?<![\w-])(?:(?<=[:=\"'])|(?<=[:=] )|(?P<anywhere>))(?i:bearer|basic)\s+(?P<value>[^\s\"'`,;]{8,})"
)
_SHORT = re.compile(
    r"(?<![\w-])-(?:-(?=user\b|auth\b|basic|proxy-user))?(?P<flag>[pPua])(?:ser(?:pwd)?|uth|roxy-user)?"
    r"(?:\\*[\"']\s*,\s*\\*[\"']|=|\s+|(?=[^\s\"',=-]))(?P<value>[^\s\"'`,-][^\s\"'`,]*)"
)
_TAKES_PASSWORD = re.compile(r"(?i)mysql|mariadb|sshpass|mongo|sqlcmd|clickhouse|cqlsh|influx|docker login")
_REDIS = re.compile(r"(?i)redis")
_CONTAINERS = re.compile(r"\b(?:docker|podman|nerdctl|chown)\b")
_MAKES_FOLDERS = re.compile(r"\b(?:mkdir|cp|install)\b")
_MAYBE_PASSWORD = re.compile(r"(?![a-z]+(?:-[a-z]+)+-?[0-9]+\Z)[^\s/:@.=,]{6,64}")
_TOKENS = re.compile(r"[A-Za-z0-9_+/=.~%:-]{12,}")
_PARTS = re.compile(r"[A-Za-z0-9_+/.~-]{12,}={0,2}")

# One reference inside another is the folder in `${file:${workspaceFolder}/token}`.
_REFERENCE = re.compile(
    r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_:]{0,200}):-(?P<default>[^}$]{0,4000})\}"
    r"|\$\{(?:file:[^{}\"']{0,500}\$\{[^{}\"']{0,100}\}[^{}\"']{0,500}|[^}\"']{0,500})\}"
    r"|\{\{[^}\"']{0,500}\}\}|%[A-Za-z_][A-Za-z0-9_]{0,200}%"
)
# A `$VAR` that should have been a reference; only where it names a secret itself, since a password may begin with `$`.
_BARE_REFERENCE = re.compile(r"(?:(?<=[\s:=\"'])|\A)\$(?P<name>[A-Z_][A-Z0-9_]+)(?![A-Za-z0-9_])")
_OPAQUE = "\0"
"""Stands for each character of a reference, so that offsets stay."""

_PLAIN = re.compile(r"(?i)true|false|yes|no|on|off|none|null|[-+]?[0-9.]{1,15}")
# Where a credential is kept: a path by how it begins, and what other programs' references look like.
_FILE = re.compile(
    r"(?:\.{0,2}|~|[A-Za-z]:)[\\/][^\s:;,]*\.[A-Za-z][A-Za-z0-9]{1,4}|(?:\.{1,2}|~|/[a-z][\w.-]*)(?:/[\w.@-]+)+"
)
_ELSEWHERE = re.compile(
    r"(?:op|vault|file|env|keyring|cmd|ssm|awssm|gcpsm|bws|keychain|aws-sm|secretsmanager):[^\s]+|process\.env\.\w+"
    r"|os\.environ\S*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
)
_PLACEHOLDER = re.compile(
    r"(?i)<[^<>]*>|\[[A-Z _-]+\]|\{[A-Z _-]+\}|.*(?:x{4,}|\*{3,}|\.{3}|…).*|x{3}"
    r"|(?=.*(?:your|change[-_ ]?me|replace|placeholder|insert|example|dummy|redacted|here\Z|todo|fixme|sample))"
    r"[a-z]+(?:[-_ .][a-z]+)*"
)
_NO_VALUES = frozenset({"", "bearer", "basic", "token", "digest", "apikey"})
_SCOPE = re.compile(r"read|write|admin|all|\*")
_SHORTEST_WEAK = 16
# What stands before an identifier in a path, which a key may look like.
_NAMED_SEGMENT = re.compile(
    r"(?i)(?:project|org|organization|workspace|team|account|user|tenant|app|agent|site|space|database|page|commit|blob"
    r"|release|document|file|revision|tag)s?|tree|raw|archive|rev|sha|d"
)
_EXAMPLE_USERS = frozenset({"user", "username"})
_EXAMPLE_PASSWORDS = frozenset({"password", "pass", "passwd"})
_FORGES = ("github.com", "githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org", "huggingface.co")


@attrs.frozen
class Found:
    """One credential in a text, half open, in code points. `name` is what holds it there, empty when nothing does."""

    start: int
    end: int
    name: str = ""


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


def is_literal_secret(name: str, value: str) -> bool:
    """Tell whether `value`, held by `name`, has a credential written out. A value that only refers to one has none."""
    return next(_all(value, name), None) is not None


def is_secret_value(value: str) -> bool:
    """Tell whether a value has a credential in it, whatever holds it."""
    return is_literal_secret("", value)


def credentials_in(value: str, name: str = "") -> tuple[Found, ...]:
    """Return the credentials in a value, in order and apart. `name` is the variable, header, flag or key that holds it.

    What a reference refers to is not one, but its default may be.
    """
    apart: list[Found] = []
    for found in sorted(_all(value, name), key=lambda found: (found.start, -found.end)):
        if apart and found.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = attrs.evolve(last, end=max(last.end, found.end), name=last.name or found.name)
        else:
            apart.append(found)
    return tuple(apart)


def _all(value: str, name: str) -> Iterator[Found]:
    text = _without_references(value)
    if name and _is_held(name, text):
        start = len(text) - len(text.lstrip(" \0"))
        yield Found(start, max(start + 1, len(text.rstrip(" \0"))), name)
        return
    if _SCHEMED.fullmatch(text.strip()) and not _is_harmless(text.split()[-1]):
        yield Found(0, len(text), "authorization")
    for match in _REFERENCE.finditer(value):
        if match["default"] and _is_held(match["name"].removeprefix("env:"), match["default"]):
            yield Found(match.start("default"), match.end("default"), match["name"].removeprefix("env:"))
    yield from _in_text(text)


def credentials_around(text: str, *, is_prose: bool = False) -> Iterator[Found]:
    """Yield the credentials in a text that is no value of its own: a line of a file, or a sentence. They may overlap.

    Args:
        is_prose: the text is a sentence: a plain word after `token: ` or `--token ` is a word like any other.
    """
    return _in_text(_without_references(text), is_prose=is_prose)


def _without_references(text: str) -> str:
    text = _REFERENCE.sub(_hidden, text)
    return _BARE_REFERENCE.sub(lambda match: _filled(match) if is_secret_name(match["name"]) else match[0], text)


def _in_text(text: str, *, is_prose: bool = False) -> Iterator[Found]:
    """Yield what is a credential by its form, or by what stands before it in the text; they may overlap."""
    for match in _KEY_ENDS.finditer(text):
        yield Found(len(text[: match.start()].rstrip(_KEY_CHARACTERS)), match.start())
    for match in _KNOWN.finditer(text):
        if not _PLACEHOLDER.fullmatch(match[0]):
            yield Found(*match.span())
    if "://" in text:
        yield from _in_urls(text)
    if "=" in text or ":" in text:
        yield from _assigned(text, is_prose=is_prose)
    if "-" in text:
        yield from _flagged(text, is_prose=is_prose)
    for match in _SCHEMED.finditer(text):
        value = match["value"]
        is_prose_word = match["anywhere"] is not None and not re.search(r"[0-9=]", value)
        if not value.isalpha() and not is_prose_word and not _is_harmless(value):
            yield Found(*match.span("value"), "authorization")
    for match in _TOKENS.finditer(text):
        yield from _in_token(match[0], match.start())


def _assigned(text: str, *, is_prose: bool) -> Iterator[Found]:
    at = 0
    while match := _ASSIGNED.search(text, at):
        at = match.end()
        value = _value_after(match, _ASSIGNED_VALUE)
        if value is None or not _is_assignment(match, value):
            continue
        start, end = _unquoted(value)
        is_word = is_prose and match["between"][-1:].isspace() and text[start:end].isalpha()
        if not is_word and _is_held(match["name"], text[start:end]):
            yield Found(_after_scheme(text, start, end), end, match["name"])
            at = end


def _flagged(text: str, *, is_prose: bool) -> Iterator[Found]:
    at = 0
    while match := _FLAGGED.search(text, at):
        at = match.end()
        value = _value_after(match, _FLAGGED_VALUE)
        if value is None:
            continue
        start, end = _unquoted(value)
        if not (is_prose and text[start:end].isalpha()) and _is_held(match["name"], text[start:end]):
            yield Found(start, end, match["name"])
            at = end
    for match in _SHORT.finditer(text):
        # What program it is may stand in another line.
        if is_short_flag_secret(match["flag"], match["value"], ""):
            yield Found(*match.span("value"), "password")


def _value_after(match: re.Match[str], pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Return the value behind a name that may hold a credential; nothing is looked at behind another name."""
    if is_secret_name(match["name"]):
        return pattern.match(match.string, match.end())
    if _is_weak_name(match["name"]):
        return pattern.match(match.string, match.end(), match.end() + _LONGEST_WEAK)
    return None


def is_short_flag_secret(flag: str, value: str, program: str) -> bool:
    """Tell whether the value of a flag of one letter is a password, or a user with one.

    Args:
        flag: without its dash; `u` also stands for its long forms.
        program: the command that takes it; empty when it is not known.
    """
    value = value.replace(_OPAQUE, "")
    if _is_harmless(value):
        return False
    if flag == "u":
        user, colon, password = value.partition(":")
        return bool(colon and user and password and not password.isdigit() and "/" not in value) and (
            _CONTAINERS.search(program) is None
        )
    if flag == "a" and program:
        return _REDIS.search(program) is not None
    if _TAKES_PASSWORD.search(program) is not None:
        return not value.isdigit()
    # Of any other program it may be a port, a profile, a package or a folder.
    is_mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return is_mixed and _MAYBE_PASSWORD.fullmatch(value) is not None and _MAKES_FOLDERS.search(program) is None


def _in_urls(text: str) -> Iterator[Found]:
    for match in _USERINFO.finditer(text):
        is_example = match["user"] in _EXAMPLE_USERS and match["value"] in _EXAMPLE_PASSWORDS
        if match["value"] and not is_example and not _is_harmless(match["value"], in_url=True):
            yield Found(*match.span("value"), "password")
        if match["user"] and (is_random(match["user"]) or is_hex_or_uuid(match["user"])):
            yield Found(*match.span("user"), "token")
    for match in _WEBHOOK.finditer(text):
        if not _is_harmless(match["value"]) and not _has_placeholder_part(match["value"]):
            yield Found(*match.span("value"), "url")
    for match in _QUERY.finditer(text):
        if _is_held(match["name"], match["value"]):
            yield Found(*match.span("value"), match["name"])
    for match in _URL.finditer(text):
        is_forge = match["host"].rpartition("@")[2].endswith(_FORGES)
        previous, start = "", match.start("path")
        for part in match["path"].split("/"):
            piece, at = part.partition("@")[0], start
            if (
                is_random(piece, least=16)
                or _is_user_and_password(piece)
                or (is_hex_or_uuid(piece) and not is_forge and not _NAMED_SEGMENT.fullmatch(previous))
            ):
                yield Found(at, at + len(piece), "url")
            previous, start = part, start + len(part) + 1


def _in_token(token: str, offset: int) -> Iterator[Found]:
    if "%" in token:
        plain = unquote(token)
        if plain != token and "\0" not in plain and next(_in_text(plain), None) is not None:
            yield Found(offset, offset + len(token))
        return
    for match in _PARTS.finditer(token):
        part = match[0]
        if is_random(part) or _is_user_and_password(part) or _has_encoded_json(part):
            yield Found(offset + match.start(), offset + match.end())


def _is_held(name: str, raw: str) -> bool:
    """Tell whether a value, of which references are opaque, is a credential when something of this name holds it."""
    literal = re.sub(rf"\A(?i:{_SCHEME})", "", raw.replace(_OPAQUE, "").strip().strip("\"'")).strip()
    if literal.lower() in _NO_VALUES or literal.startswith("$") or _is_harmless(literal):
        return False
    if is_secret_name(name):
        # Of a URL only a part is one, which is looked for by itself.
        return "://" not in literal or "dsn" in name.lower() or "string" in name.lower()
    return (
        _is_weak_name(name)
        and len(literal) >= _SHORTEST_WEAK
        and "/" not in literal.strip("/")
        and (is_hex_or_uuid(literal) or _is_mixed(literal))
    )


def _is_weak_name(name: str) -> bool:
    words = [word.lower() for word in _SEPARATORS.split(name) if word]
    return bool(words) and words[-1] in _WEAK and _PUBLIC.isdisjoint(words)


def _is_mixed(literal: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_+/=.~-]+", literal) is not None and sum(map(str.isdigit, literal)) >= 3


def _is_harmless(literal: str, *, in_url: bool = False) -> bool:
    literal = literal.replace(_OPAQUE, "")
    if not literal or literal.startswith("$") or _PLACEHOLDER.fullmatch(literal) or _ELSEWHERE.fullmatch(literal):
        return True
    if in_url:
        return False
    if _PLAIN.fullmatch(literal):
        return True
    return _FILE.fullmatch(literal) is not None and not any(map(is_random, literal.split("/")))


def _has_placeholder_part(path: str) -> bool:
    return any(_PLACEHOLDER.fullmatch(part) for part in path.split("/") if part)


def _is_assignment(match: re.Match[str], value: re.Match[str]) -> bool:
    """Tell a header's line from a scope as `secrets:read`: without space, a colon is one after a capital or a dash."""
    if match["between"] != ":":
        return True
    is_header = match["name"][0].isupper() or "-" in match["name"]
    return is_header and not _SCOPE.fullmatch(value[0])


def _unquoted(value: re.Match[str]) -> tuple[int, int]:
    """Return where a value stands without the quote that opens it and the backslash before the one that closes it."""
    start, end = value.span()
    opening = re.match(r"\\*[\"']", value[0])
    if opening is not None:
        start += opening.end()
    if value[0].endswith("\\"):
        end -= 1
    return start, max(start, end)


def _after_scheme(text: str, start: int, end: int) -> int:
    match = re.match(rf"(?i:{_SCHEME})", text[start:end])
    return start if match is None else start + match.end()


def _is_user_and_password(part: str) -> bool:
    """Tell whether a part is what base64 makes of `user:password`."""
    plain = _decoded(part)
    return plain is not None and re.fullmatch(r"[\x21-\x39\x3b-\x7e]+:[\x21-\x7e]+", plain) is not None


def _has_encoded_json(part: str) -> bool:
    plain = _decoded(part) if part.startswith("ey") else None
    return plain is not None and plain.startswith("{") and next(_in_text(plain), None) is not None


def _decoded(part: str) -> str | None:
    core = part.rstrip("=")
    if len(core) < 12 or len(core) % 4 == 1:
        return None
    try:
        return base64.b64decode(core.translate(_URL_SAFE) + "=" * (-len(core) % 4), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None


_URL_SAFE = str.maketrans("-_", "+/")


def _hidden(match: re.Match[str]) -> str:
    """Return a reference as opaque characters, its default as it is."""
    default = match["default"]
    if not default:
        return _filled(match)
    start, end = (at - match.start() for at in match.span("default"))
    return _OPAQUE * start + default + _OPAQUE * (len(match[0]) - end)


def _filled(match: re.Match[str]) -> str:
    return _OPAQUE * len(match[0])
