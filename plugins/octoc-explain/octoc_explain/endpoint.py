"""A model that an HTTP endpoint with OpenAI's chat completions serves, as of most providers and local servers."""

from __future__ import annotations

import json
from typing import Any

import attrs

from octoc.plugin import PluginError

_MAX_BYTES = 1 << 18
_MAX_TOKENS = 200
_SECONDS = 10.0


class EndpointError(PluginError):
    """The endpoint gave no explanation. The message has nothing of what it answered, which may repeat a secret."""


@attrs.frozen
class ChatEndpoint:
    """Asks a model by `POST URL/chat/completions`; an instance is the `ask` of a `ModelExplainer`.

    Args:
        url: the base address, such as `http://127.0.0.1:11434/v1`.
        key: goes with each request as a bearer token; empty for none.
    """

    url: str
    model: str
    key: str = attrs.field(default="", repr=False)

    async def __call__(self, instructions: str, report: str) -> str:
        """Return the text of the model's answer. Raises: EndpointError."""
        import httpx2

        content = {
            "model": self.model,
            "max_tokens": _MAX_TOKENS,
            "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": report}],
        }
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        address = f"{self.url.rstrip('/')}/chat/completions"
        body = bytearray()
        try:
            async with (
                # A redirect would take the key and the report to another host.
                httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client,
                client.stream("POST", address, json=content, headers=headers) as response,
            ):
                if response.status_code != httpx2.codes.OK:
                    raise EndpointError(f"the endpoint answered with status {response.status_code}")
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > _MAX_BYTES:
                        raise EndpointError(f"the answer has more than {_MAX_BYTES} bytes")
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
            raise EndpointError(f"the endpoint cannot be asked: {type(error).__name__}") from None
        return _text(bytes(body))


def _text(body: bytes) -> str:
    try:
        answer: Any = json.loads(body)
        text = answer["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise EndpointError("the answer has no text at `choices[0].message.content`")
    return text
