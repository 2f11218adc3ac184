"""Forms that make a text a credential wherever it stands: known tokens, private keys, random text, base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote

from octoc.credentials.placeholders import is_placeholder
from octoc.randomness import is_random

_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.)*?"
    r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
_KEY_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY")
_DASHES = len("-----")
_KEY_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\\ \r\n\t"
# Wider than the documented forms of `known_tokens.json`: what is replaced and masked errs on the safe side.
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{16,}|[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|sk_[a-f0-9]{48}|whsec_[A-Za-z0-9+/=]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|gl(?:pat|rt|dt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_-]{16,}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}|xoxe\.[A-Za-z0-9.-]{10,}|xapp-[A-Za-z0-9-]{10,}"
    r"|(?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}"
    r"|ya29\.[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|hf_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{32,}|shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{32}|sq0[a-z]{3}-[A-Za-z0-9_-]{20,}"
    r"|(?:lin|ntn|fc|tvly|gsk|xai|pplx|figd|sbp|nvapi|phx|pat|key|secret|r8|BSA|ctx7sk|re|nfp|sntry[su])"
    r"(?:_api)?[_-](?=[A-Za-z]{0,200}[0-9])[A-Za-z0-9]{20,}|dapi[a-f0-9]{32}|BSA(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{25,}"
    r"|ATATT3[A-Za-z0-9_=-]{20,}|dckr_pat_[A-Za-z0-9_-]{20,}|AGE-SECRET-KEY-[0-9A-Z]{20,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"
    r"|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|SK[a-f0-9]{32}"
    r")"
)
_TOKENS = re.compile(r"[A-Za-z0-9_+/=.~%:-]{12,}")
_PARTS = re.compile(r"[A-Za-z0-9_+/.~-]{12,}={0,2}")
_BETWEEN_DOTS = re.compile(r"[^.]+")
_PAIR = re.compile(r"[\x21-\x39\x3b-\x7e]+:[\x21-\x7e]+")
_URL_SAFE = str.maketrans("-_", "+/")


def keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the private keys in PEM stand, also a key whose first or last line is in another text."""
    for match in _KEY.finditer(text):
        if not is_placeholder(match[0]):
            yield match.span()
    start = 0
    for match in _KEY_END.finditer(text):
        body = text[start : match.start()]
        yield start + len(body.rstrip(_KEY_CHARACTERS)), match.start()
        start = match.start() + _DASHES


def prefixed_tokens(text: str) -> Iterator[tuple[int, int]]:
    """Yield where tokens stand that begin as a service's own do, of whatever length."""
    for match in _PREFIXED.finditer(text):
        if not is_placeholder(match[0]):
            yield match.span()


def opaque_tokens(text: str) -> Iterator[tuple[int, int, str | None]]:
    """Yield start and end of each token that is random or hides something, and the text that it hides.

    None stands for the text where the token itself is a credential: random, or `user:password` in base64. Others are
    percent-encoded, or an object in JSON in base64.
    """
    for token in _TOKENS.finditer(text):
        if "%" in token[0]:
            plain = unquote(token[0])
            if plain != token[0] and "\0" not in plain:
                yield *token.span(), plain
            continue
        for part in _PARTS.finditer(token[0]):
            start, end = token.start() + part.start(), token.start() + part.end()
            decoded = _decoded(part[0])
            if (is_random(part[0]) and not is_placeholder(part[0])) or (
                decoded is not None and _PAIR.fullmatch(decoded)
            ):
                yield start, end, None
                continue
            # A token in the path of a key, such as `servers.<token>.command`. The name of a host may look random.
            for piece in () if part[0].startswith("//") else _BETWEEN_DOTS.finditer(part[0]):
                if is_random(piece[0]):
                    yield start + piece.start(), start + piece.end(), None
            if decoded is not None and part[0].startswith("ey") and decoded.startswith("{"):
                yield start, end, decoded


def is_user_and_password(part: str) -> bool:
    """Tell whether a part is what base64 makes of `user:password`."""
    plain = _decoded(part)
    return plain is not None and _PAIR.fullmatch(plain) is not None


def _decoded(part: str) -> str | None:
    core = part.rstrip("=")
    if len(core) < 12 or len(core) % 4 == 1:
        return None
    try:
        return base64.b64decode(core.translate(_URL_SAFE) + "=" * (-len(core) % 4), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
