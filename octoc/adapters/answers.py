"""The outcome of a call, as an adapter passes it to its framework."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from octoc.results import ContentPart, FailureKind, ToolFailure, ToolResult
from octoc.runtime.results.failures import as_mcp_result
from octoc.runtime.results.parts import text_of


@attrs.frozen
class Image:
    """An image of a result: its MIME type, and its bytes as base64 text."""

    mime_type: str
    base64: str


@attrs.frozen(kw_only=True)
class CallAnswer:
    """The outcome of a call: a result, a tool's own error, or a failure. `str()` of it is the text for the model.

    Args:
        text: what the model reads; the structured content as JSON if the result has no text.
        failed: whether the tool reports an error, or octoc could not call it.
        structured: the result's structured content, any JSON value; None if it has none.
        images: the result's images, for a model that reads them.
        handle: the handle of the whole result if it was cut; the model reads on with `read_result`.
        kind: why octoc could not call the tool, as in `ToolFailure.kind`; None if the tool answered.
        wire: the outcome as MCP's CallToolResult in wire form (camelCase keys).
    """

    text: str
    failed: bool
    structured: Any = None
    images: tuple[Image, ...] = ()
    handle: str | None = None
    kind: FailureKind | None = None
    wire: Mapping[str, Any] = attrs.field(factory=dict, repr=False)

    def __str__(self) -> str:
        return self.text

    @property
    def data(self) -> dict[str, Any]:
        """What a host may need beside the text, as JSON: `structured`, `handle`, `kind`, and `failed` if it is True."""
        values = {
            "structured": self.structured,
            "handle": self.handle,
            "kind": self.kind,
            "failed": self.failed or None,
        }
        return {key: value for key, value in values.items() if value is not None}


def answer_of(outcome: ToolResult | ToolFailure, profile: str) -> CallAnswer:
    """Return an outcome of a session with this profile as an answer."""
    wire = as_mcp_result(outcome, profile)
    if isinstance(outcome, ToolFailure):
        return CallAnswer(text=outcome.text, failed=True, kind=outcome.kind, wire=wire)
    texts = [text for part in outcome.content if (text := text_of(part)) is not None]
    if not texts and outcome.structured is not None:
        texts = [json.dumps(outcome.structured, ensure_ascii=False)]
    return CallAnswer(
        text="\n".join(texts),
        failed=outcome.is_error,
        structured=outcome.structured,
        images=tuple(image for part in outcome.content if (image := _image(part)) is not None),
        handle=outcome.handle,
        wire=wire,
    )


def _image(part: ContentPart) -> Image | None:
    data = part.data or {}
    if part.type != "image" or not isinstance(data.get("data"), str):
        return None
    return Image(str(data.get("mimeType") or "image/png"), data["data"])
