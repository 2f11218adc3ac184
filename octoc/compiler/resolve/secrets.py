"""Literal secrets of a server definition become references, so that nothing behind this point can hold one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from octoc.compiler.model.source import ServerSource
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.resolve import LITERAL_SECRET
from octoc.secrets import is_literal_secret, is_secret_name

_QUERY = re.compile(r"(?P<lead>[?&](?P<name>[^=&#]+)=)(?P<value>[^&#]+)")
_USERINFO = re.compile(r"(?P<lead>://[^/\s:@]*:)(?P<value>[^/\s@]+)(?=@)")


def without_secrets(server: ServerSource, sink: DiagnosticSink) -> ServerSource:
    """Return the definition with each literal that looks like a secret replaced by a reference, and report each.

    An environment variable becomes `${<KEY>}`, anything else `${<SERVER>_<WHAT>}`. No message has the value.
    """
    at = server.place

    def reference(variable: str, what: str, place: Place) -> str:
        sink.report(
            LITERAL_SECRET,
            f"server `{server.name}` has a literal secret in {what}",
            at=place,
            help=f"set the variable `{variable}` to it and write `${{{variable}}}` in its place, as the bundle does",
        )
        return f"${{{variable}}}"

    def mapping(values: Mapping[str, str], field: str, prefix: str) -> dict[str, str]:
        return {
            key: reference(_variable(prefix, key), f"`{field}.{key}`", at.child(field, key))
            if is_literal_secret(key, value)
            else value
            for key, value in values.items()
        }

    args = list(server.args)
    for index, arg in enumerate(args):
        flag, equals, value = arg.partition("=")
        # A flag that has its value behind `=` says nothing about the next argument.
        flag_before = server.args[index - 1] if index else ""
        before = flag_before.lstrip("-") if flag_before.startswith("-") and "=" not in flag_before else ""
        place = at.child("args", index)
        if equals and flag.startswith("-") and is_literal_secret(flag.lstrip("-"), value):
            args[index] = flag + "=" + reference(_variable(server.name, flag.lstrip("-")), f"`args[{index}]`", place)
        elif not arg.startswith("-") and is_literal_secret(before, arg):
            name = before if is_secret_name(before) else f"arg_{index}"
            args[index] = reference(_variable(server.name, name), f"`args[{index}]`", place)

    return attrs.evolve(
        server,
        env=mapping(server.env, "env", ""),
        headers=mapping(server.headers, "headers", server.name),
        args=tuple(args),
        url=_url(server, reference),
        auth=_auth(server, reference),
    )


def _url(server: ServerSource, reference: Any) -> str | None:
    if server.url is None:
        return None
    place = server.place.child("url")

    def query(match: re.Match[str]) -> str:
        if not is_literal_secret(match["name"], match["value"]):
            return match[0]
        return str(match["lead"] + reference(_variable(server.name, match["name"]), "`url`", place))

    def password(match: re.Match[str]) -> str:
        if match["value"].startswith("${"):
            return match[0]
        return str(match["lead"] + reference(_variable(server.name, "password"), "`url`", place))

    url = _USERINFO.sub(password, _QUERY.sub(query, server.url))
    # What is left is a part that cannot be named, as a token in the path: the variable is then the whole URL.
    return str(reference(_variable(server.name, "url"), "`url`", place)) if is_literal_secret("url", url) else url


def _auth(server: ServerSource, reference: Any) -> Mapping[str, Any] | None:
    if server.auth is None:
        return None
    return {
        key: reference(_variable(server.name, key), f"`auth.{key}`", server.place.child("auth", key))
        if isinstance(value, str) and not key.endswith("_env") and is_literal_secret(key, value)
        else value
        for key, value in server.auth.items()
    }


def _variable(prefix: str, name: str) -> str:
    text = f"{prefix}_{name}" if prefix else name
    return text if not prefix else re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper()
