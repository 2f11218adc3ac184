"""Forms that browsers send: where they come from, and their fields within limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_FORM_BYTES = 64 * 1024
_MAX_FIELDS = 20
_FORM_S = 10.0
_FORM_TYPE = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> Mapping[str, str]:
    """Return the fields of a form that a page of this gateway sent. Raises: HTTPException."""
    if not is_own_form(request):
        raise HTTPException(403, "A form is taken from this gateway’s own pages alone")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM_TYPE:
        raise HTTPException(415, f"a form is sent as {_FORM_TYPE}")
    body = b""
    try:
        async with asyncio.timeout(_FORM_S):
            async for part in request.stream():
                body += part
                if len(body) > MAX_FORM_BYTES:
                    raise HTTPException(413, f"a form has at most {MAX_FORM_BYTES} bytes")
    except ClientDisconnect:
        raise HTTPException(400, "the form was cut off") from None
    except TimeoutError:
        raise HTTPException(408, "the form did not arrive in time") from None
    return first_values(QueryParams(body.decode("ascii", "replace")))


def first_values(fields: QueryParams) -> Mapping[str, str]:
    """Return the first value of each field. Raises: HTTPException if there are too many fields."""
    items = fields.multi_items()
    if len(items) > _MAX_FIELDS:
        raise HTTPException(400, f"a form has at most {_MAX_FIELDS} fields")
    return dict(reversed(items))


def is_own_form(request: Request) -> bool:
    """Return whether a page of this gateway sent the form. A page of another origin must not act for its visitor.

    Browsers set `Sec-Fetch-Site`, and no page can change it; `none` is a visitor who reloads the answer. Older browsers
    name the origin. A client that sends neither has no visitor's cookie.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    try:
        origin = urlsplit(request.headers.get("origin", "")).netloc
    except ValueError:
        return False
    return bool(origin) and origin.lower() == request.headers.get("host", "").lower()
