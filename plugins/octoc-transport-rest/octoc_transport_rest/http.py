"""Reads HTTP/1.1 requests strictly, with a limit on each part."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import attrs

from octoc_transport_rest.protocol import MAX_BODY_BYTES

MAX_HEAD_BYTES = 16 * 1024
MAX_HEADERS = 100
_MAX_CHUNK_LINE_BYTES = 256

_REQUEST = re.compile(rb"([A-Z]{1,20}) (/[!-~]*) HTTP/1\.([01])")
_HEADER = re.compile(
    rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([!-~\x80-\xff](?:[ \t!-~\x80-\xff]*[!-~\x80-\xff])?)?[ \t]*"
)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[\t -~]*)?\r\n")


class RefusedError(Exception):
    """A request is answered with an error.

    `code` and the message are `error` and `message` of the body; `extra` has its other fields, such as `retry_after`.
    """

    def __init__(self, status: HTTPStatus, code: str, message: str, extra: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.extra = extra or {}


@attrs.frozen(kw_only=True)
class Request:
    """A request without its body. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str] = attrs.field(repr=False)
    keep_alive: bool
    length: int | None
    """Length of the body in bytes; None if it comes in chunks."""


async def read_head(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request's line and headers, or None if the client is gone. Raises: RefusedError.

    The reader must have the limit MAX_HEAD_BYTES, which limits the head.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        too_long = f"the request's head is longer than {MAX_HEAD_BYTES} bytes"
        raise RefusedError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large", too_long) from None
    first, *lines = head[:-4].split(b"\r\n")
    match = _REQUEST.fullmatch(first)
    if match is None:
        raise _malformed("the first line is not a request of HTTP/1.1")
    headers = _headers(lines)
    if match[3] == b"1" and "host" not in headers:
        raise _malformed("the header `Host` is missing")
    connection = headers.get("connection", "").lower()
    return Request(
        method=match[1].decode("ascii"),
        path=match[2].decode("ascii").partition("?")[0],
        headers=headers,
        keep_alive=match[3] == b"1" and "close" not in connection,
        length=_length(headers),
    )


def _headers(lines: list[bytes]) -> dict[str, str]:
    if len(lines) > MAX_HEADERS:
        too_many = f"the request has more than {MAX_HEADERS} headers"
        raise RefusedError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large", too_many)
    headers: dict[str, str] = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise _malformed("a header line is not of the form `Name: value`")
        name = match[1].decode("ascii").lower()
        if name in headers and name in {"authorization", "content-length", "content-type", "host", "transfer-encoding"}:
            raise _malformed(f"the header `{name}` stands twice")
        headers[name] = (match[2] or b"").decode("latin-1")
    return headers


def _length(headers: Mapping[str, str]) -> int | None:
    length, coding = headers.get("content-length"), headers.get("transfer-encoding")
    if coding is not None:
        if length is not None:
            raise _malformed("it has both `Content-Length` and `Transfer-Encoding`")
        if coding.lower() != "chunked":
            raise RefusedError(
                HTTPStatus.NOT_IMPLEMENTED, "not_supported", "the only transfer coding taken is `chunked`"
            )
        return None
    if length is None:
        return 0
    if not re.fullmatch(r"[0-9]{1,18}", length):
        raise _malformed("`Content-Length` is not a number")
    return _bounded(int(length))


async def read_body(request: Request, reader: asyncio.StreamReader) -> bytes | None:
    """Return the request's body, or None if the client is gone. Raises: RefusedError."""
    try:
        if request.length is not None:
            return await reader.readexactly(request.length)
        return await _chunks(reader)
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise _malformed("a line among its chunks is too long") from None


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while True:
        line = await reader.readuntil(b"\r\n")
        match = _CHUNK.fullmatch(line) if len(line) <= _MAX_CHUNK_LINE_BYTES else None
        if match is None:
            raise _malformed("the size of a chunk is not a hexadecimal number")
        size = int(match[1], 16)
        if size == 0:
            break
        _bounded(len(body) + size)
        body += await reader.readexactly(size)
        if await reader.readexactly(2) != b"\r\n":
            raise _malformed("a chunk is longer than its size")
    for _ in range(MAX_HEADERS):
        if await reader.readuntil(b"\r\n") == b"\r\n":
            return bytes(body)
    raise _malformed("it has too many trailers")


def _bounded(length: int) -> int:
    if length > MAX_BODY_BYTES:
        too_long = f"the request's body is longer than {MAX_BODY_BYTES} bytes"
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body_too_large", too_long)
    return length


def _malformed(why: str) -> RefusedError:
    return RefusedError(HTTPStatus.BAD_REQUEST, "malformed_request", f"the request is malformed: {why}")


def response(status: HTTPStatus, body: bytes, *, keep_alive: bool, headers: Mapping[str, str] | None = None) -> bytes:
    """Return a response with a JSON body, as bytes to send."""
    lines = [f"HTTP/1.1 {status.value} {status.phrase}"]
    fields = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "keep-alive" if keep_alive else "close",
        "X-Content-Type-Options": "nosniff",
        **(headers or {}),
    }
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
