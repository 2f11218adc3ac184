"""Replace literal secrets of a server definition by references, so that no later stage has a secret."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import attrs

from octoc.addresses import is_loopback
from octoc.compiler.inputs.mcp.claude import CLAUDE
from octoc.compiler.model.source import ServerSource
from octoc.compiler.resolve.definitions import written_name
from octoc.credentials import credentials_in, is_secret_name, is_short_flag_secret
from octoc.credentials.known_tokens import known_tokens
from octoc.credentials.values import is_default_password, is_local
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import LITERAL_SECRET
from octoc.plugin.file_kinds import Dialect
from octoc.randomness import is_hex_or_uuid, is_random
from octoc.references import find_references

_SHORT_FLAGS = {"-p": "p", "-P": "p", "-a": "a", "-u": "u", **dict.fromkeys(("--user", "--auth", "--proxy-user"), "u")}
_LONGEST_NAME = 60
_KEY_FLAG = "key"
"""A flag of many programs, for a name as well: only a random value is a secret, such as a profile's key of Smithery."""
_LEAST_LETTERS = 7
"""Characters of a random value that differ from each other."""
_LOCAL_LOGIN = re.compile(r"@(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|\Z)")
# What everyone writes for a service on the own machine: words of which none is a secret.
_OF_DEVELOPMENT = re.compile(
    r"(?:bearer\s+)?(?:(?>admin|app|auth|change|default|demo|development|dev|docker|dummy|example|guest|jwt|key|local|minio"
    r"|mongo|mysql|my|me|neo4j|only|password|passw0rd|pass|postgres|redis|root|sandbox|secret|super|sk|test|token|user"
    r"|very|x{3,}+)[-_.!@0-9]{0,4}+)++",
    re.IGNORECASE,
)
# A reference that lacks a brace or both, which OCT440 reports.
_HALF_CLOSED = re.compile(r"\{\{(?:ENV|INPUT):\w+\}?")
_HOST = re.compile(r"(?i)(?:\A|_)(?:host|hostname|server|address)\Z")
_ON_THIS_MACHINE = re.compile(r"\bhttps?://(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|\Z)")
_SHORT_WORD = re.compile(r"[A-Za-z0-9]{1,8}")
"""What people write for an emulator of a service, which takes any text; tokens that services issue are longer."""

Refer = Callable[[str, str, Place, str], str]
"""Reports a literal secret and returns its reference: variable, what holds it, place, the text that contains it."""


def reference_secrets(server: ServerSource, sink: DiagnosticSink, dialect: Dialect = CLAUDE) -> ServerSource:
    """Replace each literal that looks like a secret by a reference, and report it without its value.

    An environment variable becomes `${<KEY>}`, any other text `${<SERVER>_<WHAT>}`.
    """
    at = server.place
    is_on_this_machine = server.url is not None and is_loopback(_host_of(server.url))
    has_emulator = any(map(_ON_THIS_MACHINE.search, (*server.args, *server.env.values())))

    def refer(variable: str, what: str, place: Place, text: str) -> str:
        if next(known_tokens(text), None) is not None:  # the read stage reports it, as in every file
            return f"${{{variable}}}"
        form = dialect.variable_named(variable)
        instead = dialect.secret_advice or f"write `{form}` in its place"
        sink.report(
            LITERAL_SECRET,
            f"server `{server.name}` has a literal secret in {what}",
            at=place,
            help=f"set the variable `{variable}` to it and {instead}",
            severity=Severity.INFO
            if is_on_this_machine
            or _LOCAL_LOGIN.search(text)
            or _OF_DEVELOPMENT.fullmatch(text)
            or (has_emulator and _SHORT_WORD.fullmatch(text))
            else None,
        )
        return f"${{{variable}}}"

    def whole(values: Mapping[str, str], field: str, prefix: str) -> dict[str, str]:
        kept = {}
        for key, written in values.items():
            what = f"`{written_name(server, field, key) or f'{field}.{key}'}`"
            place = at.child(field, key)
            value = _without_defaults(written, key, what, place, refer)
            if _is_local_login(server, value) or _HALF_CLOSED.fullmatch(value):
                kept[key] = value
                continue
            kept[key] = refer(_variable(prefix, key), what, place, value) if credentials_in(value, key) else value
        return kept

    def single(field: str, text: str | None) -> str | None:
        return None if text is None else _replaced(server.name, text, field, f"`{field}`", at.child(field), refer)

    return attrs.evolve(
        server,
        command=single("command", server.command),
        cwd=single("cwd", server.cwd),
        env_file=None if server.env_file is None else single("envFile", server.env_file),
        env=whole(server.env, "env", ""),
        headers=whole(server.headers, "headers", server.name),
        args=tuple(_args(server, refer)),
        url=_url(server, refer),
        auth=None if server.auth is None else _plain(server.name, server.auth, "auth", at.child("auth"), refer),
        settings=_plain(server.name, server.settings, "settings", at.child("settings"), refer),
    )


def _is_local_login(server: ServerSource, value: str) -> bool:
    """Tell whether a value is the login of a demonstration, for a server on this machine: a password or `Basic`."""
    if server.url is not None:
        scheme, _, coded = value.partition(" ")
        try:
            user, _, password = base64.b64decode(coded, validate=True).decode().partition(":")
        except ValueError:
            return False
        return scheme.lower() == "basic" and is_local(_host_of(server.url)) and is_default_password(user, password)
    hosts = [text for name, text in server.env.items() if _HOST.search(name)]
    return bool(hosts) and is_default_password("", value) and all(map(is_local, hosts))


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _args(server: ServerSource, refer: Refer) -> Iterator[str]:
    program = " ".join((server.command or "", *server.args[:8]))
    before = ""
    for index, written in enumerate(server.args):
        what = f"`{written_name(server, 'args', index) or f'args[{index}]'}`"
        place = server.place.child("args", index)
        # A flag with `=` already has its value, and does not take the next argument.
        flag = before if before.startswith("-") and "=" not in before else ""
        name = flag.lstrip("-")
        arg = _without_defaults(written, name, what, place, refer)
        before = arg
        short = _SHORT_FLAGS.get(flag, "")
        attached = arg[:2] in _SHORT_FLAGS and len(arg) > len("-p") and not arg.startswith("--")
        if short and not arg.startswith("-") and is_short_flag_secret(short, arg, program):
            yield refer(_variable(server.name, "password"), what, place, arg)
        elif attached and is_short_flag_secret(_SHORT_FLAGS[arg[:2]], arg[2:], program):
            yield arg[:2] + refer(_variable(server.name, "password"), what, place, arg)
        elif (is_secret_name(name) and not arg.startswith("-") and credentials_in(arg, name)) or (
            name == _KEY_FLAG and (is_random(arg) or is_hex_or_uuid(arg)) and len(set(arg)) > _LEAST_LETTERS
        ):
            yield refer(_variable(server.name, name), what, place, arg)
        else:
            yield _replaced(server.name, arg, f"arg_{index}", what, place, refer)


def _url(server: ServerSource, refer: Refer) -> str | None:
    if server.url is None:
        return None
    place = server.place.child("url")
    url = _without_defaults(server.url, "", "`url`", place, refer)
    found = credentials_in(url)
    if not found:
        return url
    # A token in the path has no name, so the variable replaces the whole URL.
    if any(one.name in {"", "url"} for one in found):
        return refer(_variable(server.name, "url"), "`url`", place, url)
    return _replaced(server.name, url, "url", "`url`", place, refer)


def _plain(server: str, value: Any, field: str, place: Place, refer: Refer) -> Any:
    """Return a JSON value with each text that contains a secret replaced by a reference."""
    if isinstance(value, Mapping):
        return {key: _kept(server, str(key), item, field, place.child(key), refer) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(server, "", item, f"{field}[{i}]", place.child(i), refer) for i, item in enumerate(value)]
    return value


def _kept(server: str, key: str, value: Any, field: str, place: Place, refer: Refer) -> Any:
    name = f"{field}.{key}" if key else field
    if not isinstance(value, str):
        return _plain(server, value, name, place, refer)
    if key.endswith("_env"):  # Octo's name of a variable
        return value
    value = _without_defaults(value, key, f"`{name}`", place, refer)
    if not credentials_in(value, key):
        return value
    return refer(_variable(server, key or field), f"`{name}`", place, value)


def _replaced(server: str, text: str, fallback: str, what: str, place: Place, refer: Refer) -> str:
    """Return a text with each credential in it replaced by a reference."""
    text = _without_defaults(text, "", what, place, refer)
    found = credentials_in(text)
    if not found:
        return text
    references = [reference.span for reference in find_references(text)]
    pieces: list[str] = []
    done = 0
    for one in found:
        # Replace also a reference that overlaps with the credential.
        touched = [span for span in references if span[0] < one.end and one.start < span[1]]
        start = max(done, min([one.start, *(begin for begin, _ in touched)]))
        end = max([one.end, *(end for _, end in touched)])
        name = one.name if re.search(r"[A-Za-z]", one.name) else fallback
        pieces += (text[done:start], refer(_variable(server, name[:_LONGEST_NAME]), what, place, text))
        done = end
    return "".join((*pieces, text[done:]))


def _without_defaults(text: str, name: str, what: str, place: Place, refer: Refer) -> str:
    """Return a text without the defaults of references that contain a credential."""
    found = credentials_in(text, name) if ":-" in text else ()
    for reference in reversed(find_references(text) if found else ()):
        start, end = reference.span
        inside = end - 1 - len(reference.default or "")
        if reference.default and any(one.start < end - 1 and inside < one.end for one in found):
            text = text[:start] + refer(reference.name, what, place, text) + text[end:]
    return text


def _variable(prefix: str, name: str) -> str:
    text = f"{prefix}_{name}" if prefix else name
    return text if not prefix else re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper()
