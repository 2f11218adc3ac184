"""Credentials in addresses: passwords, tokens in paths, queries and webhooks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octoc.credentials.forms import is_user_and_password
from octoc.credentials.found import FoundCredential
from octoc.credentials.placeholders import has_placeholder_part
from octoc.credentials.values import is_example_login, is_harmless, is_held
from octoc.randomness import is_hex_or_uuid, is_random

_WEBHOOK = re.compile(
    r"(?:hooks\.slack\.com/(?:services|triggers|workflows)|discord(?:app)?\.com/api/webhooks/[0-9]+"
    r"|(?<![\w.-])[\w.-]{1,200}\.webhook\.office\.com/\w+|hooks\.zapier\.com/hooks/catch|api\.telegram\.org)/(?P<value>[^\s\"'?#]+)"
)
_USERINFO = re.compile(r"://(?P<user>[^/\s:@?#\"']*)(?::(?P<value>[^/\s\"']*))?@(?P<host>[^/\s\"'?#]*)")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,20})://(?P<host>[^/\s\"'?#]*)(?P<path>/[^\s\"'?#`]*)")
_QUERY = re.compile(r"[?&](?P<name>[^=&#\s\"'?]{1,100})=(?P<value>[^&#\s\"'`]+)")
# What stands before an identifier in a path, which a key may look like.
_NAMED_SEGMENT = re.compile(
    r"(?i)(?:project|org|organization|workspace|team|account|user|tenant|app|agent|site|space|database|page|commit|blob"
    r"|release|document|file|revision|tag)s?|tree|raw|archive|rev|sha|d"
)
_DEBUGGED = re.compile(r"(?i)wss?://[^/]*/devtools/(?:browser|page)/")
"""An address of the Chrome DevTools protocol ends in the id of a browser or a page, which a restart changes."""
_FORGES = ("github.com", "githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org", "huggingface.co")


def in_urls(text: str) -> Iterator[FoundCredential]:
    """Yield the credentials in the addresses of a text; they may overlap."""
    for match in _USERINFO.finditer(text):
        is_example = is_example_login(match["user"], match["value"] or "", match["host"])
        if match["value"] and not is_example and not is_harmless(match["value"], in_url=True):
            yield FoundCredential(*match.span("value"), "password")
        if match["user"] and (is_random(match["user"]) or is_hex_or_uuid(match["user"])):
            yield FoundCredential(*match.span("user"), "token")
    for match in _WEBHOOK.finditer(text):
        if not is_harmless(match["value"]) and not has_placeholder_part(match["value"]):
            yield FoundCredential(*match.span("value"), "url")
    for match in _QUERY.finditer(text):
        if is_held(match["name"], match["value"]):
            yield FoundCredential(*match.span("value"), match["name"])
    for match in _URL.finditer(text):
        if _DEBUGGED.match(match[0]):
            continue
        is_forge = match["host"].rpartition("@")[2].endswith(_FORGES)
        previous, start = "", match.start("path")
        for part in match["path"].split("/"):
            piece, at = part.partition("@")[0], start
            if (
                is_random(piece, least=16)
                or is_user_and_password(piece)
                or (is_hex_or_uuid(piece) and not is_forge and not _NAMED_SEGMENT.fullmatch(previous))
            ):
                yield FoundCredential(at, at + len(piece), "url")
            previous, start = part, start + len(part) + 1
