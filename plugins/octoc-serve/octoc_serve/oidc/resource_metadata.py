"""Where clients get tokens: metadata of the protected resource (RFC 9728), and the challenge that names it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from octoc_serve.oidc.decisions import TokenRefusal
from octoc_serve.paths import is_mcp, named_by, path_of

if TYPE_CHECKING:
    from octoc.runtime import OidcProvider

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_HOST = re.compile(r"[A-Za-z0-9.-]+(:\d+)?|\[[0-9A-Fa-f:.]+\](:\d+)?")


def base_of(url: str, scheme: str, host: str) -> str | None:
    """Return scheme and host of the gateway for its clients: `url`, else those of a request; None for an odd host."""
    if url:
        return url
    return f"{scheme}://{host}" if _HOST.fullmatch(host) else None


def metadata(providers: Iterable[OidcProvider], base: str, path: str) -> bytes | None:
    """Return the metadata at a path that starts with `WELL_KNOWN`; None if nothing is there."""
    resource = path.removeprefix(WELL_KNOWN)
    if resource not in {"", "/"} and not is_mcp(resource):
        return None
    found = tuple(providers)
    scopes = list(dict.fromkeys(scope for provider in found for scope in provider.scopes))
    document = {
        "resource": base + (_encoded(resource) if is_mcp(resource) else ""),
        "authorization_servers": [provider.issuer for provider in found],
        "bearer_methods_supported": ["header"],
        **({"scopes_supported": scopes} if scopes else {}),
    }
    return json.dumps(document).encode()


def challenge(providers: Iterable[OidcProvider], base: str | None, path: str, refusal: TokenRefusal | None) -> str:
    """Return `WWW-Authenticate` for an answer at an MCP path; `refusal` is None for a request without a token."""
    needed = {provider.scopes for provider in providers}
    scopes = refusal.scopes if refusal is not None and refusal.scopes else needed.pop() if len(needed) == 1 else ()
    parts: Mapping[str, str] = {
        "error": "" if refusal is None else refusal.code,
        "resource_metadata": "" if base is None else f"{base}{WELL_KNOWN}{_encoded(path)}",
        "scope": " ".join(scopes),
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)


def _encoded(path: str) -> str:
    return path_of(named_by(path))
