"""Texts of the form that a template describes, the same ones for the same seed: `ghp_{alnum:36}`."""

from __future__ import annotations

import base64
import json
import random
import re
import string

_ALNUM = string.ascii_letters + string.digits
_CHARACTERS = {
    "alnum": _ALNUM,
    "alpha": string.ascii_letters,
    "lower": string.ascii_lowercase + string.digits,
    "letters": string.ascii_lowercase,
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "upperhex": "0123456789ABCDEF",
    "base32": string.ascii_uppercase + "234567",
    "base64": _ALNUM + "+/",
    "url": _ALNUM + "-_",
}
_FIELD = re.compile(r"\{(\w+):(\d+)\}")


def expanded(template: str, seed: int) -> str:
    """Return the text that a template makes of a seed."""
    source = random.Random(seed)
    if template == "{jwt}":
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": "".join(source.choices(_ALNUM, k=12))})
        coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
        return ".".join([*coded, "".join(source.choices(_CHARACTERS["url"], k=43))])
    return _FIELD.sub(lambda match: "".join(source.choices(_CHARACTERS[match[1]], k=int(match[2]))), template)


def made_up(template: str) -> str:
    """Return the text that documentation has in place of a real token."""
    return _FIELD.sub(lambda match: ("x" if match[1] not in {"digit", "hex"} else "0") * int(match[2]), template)
