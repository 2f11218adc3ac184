"""Resources, templates and prompts as hosts get them, and the answers of servers to requests about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from octoc.results import Truncation


@attrs.frozen(kw_only=True)
class ListedItem:
    """What a resource, a template and a prompt have in common. `wire` is the object for MCP's list (camelCase keys)."""

    server: str
    wire: Mapping[str, Any] = attrs.field(repr=False)

    @property
    def name(self) -> str:
        """The item's name; that of a prompt is the one to ask for it by."""
        return str(self.wire.get("name", ""))

    @property
    def title(self) -> str:
        """The name for people, empty if there is none."""
        return str(self.wire.get("title") or "")

    @property
    def description(self) -> str:
        """What it is, empty if the server does not say."""
        return str(self.wire.get("description") or "")

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The server's hints, such as `audience` and `priority`."""
        return _object(self.wire.get("annotations"))

    @property
    def meta(self) -> Mapping[str, Any]:
        """The item's `_meta`."""
        return _object(self.wire.get("_meta"))


@attrs.frozen(kw_only=True)
class Resource(ListedItem):
    """A resource that `Session.read_resource` reads by its URI."""

    @property
    def uri(self) -> str:
        return str(self.wire["uri"])

    @property
    def mime_type(self) -> str:
        """The media type, empty if unknown."""
        return str(self.wire.get("mimeType") or "")


@attrs.frozen(kw_only=True)
class ResourceTemplate(ListedItem):
    """A family of resources, whose URIs an RFC 6570 template describes."""

    @property
    def uri_template(self) -> str:
        return str(self.wire["uriTemplate"])

    @property
    def mime_type(self) -> str:
        """The media type of all its resources, empty if they differ or it is unknown."""
        return str(self.wire.get("mimeType") or "")


@attrs.frozen(kw_only=True)
class Prompt(ListedItem):
    """A prompt that `Session.get_prompt` fills, by its name."""

    @property
    def arguments(self) -> tuple[Mapping[str, Any], ...]:
        """The arguments in wire form: `name`, `description`, `required`."""
        given = self.wire.get("arguments")
        return tuple(map(_object, given)) if isinstance(given, list) else ()


@attrs.frozen(kw_only=True)
class ResourceContents:
    """The contents of a resource in wire form: each has `uri`, and `text` or `blob` (base64).

    Long texts are cut like results of tools: `truncations` has what was cut, and `handle` reads all of it.
    """

    contents: tuple[Mapping[str, Any], ...]
    wire: Mapping[str, Any] = attrs.field(repr=False)
    truncations: tuple[Truncation, ...] = ()
    handle: str | None = None

    @property
    def ok(self) -> bool:
        return True

    @property
    def text(self) -> str:
        """The texts of all contents, separated by a newline."""
        return "\n".join(str(one["text"]) for one in self.contents if "text" in one)


@attrs.frozen(kw_only=True)
class PromptMessages:
    """A filled prompt: messages in wire form, each with `role` and `content`. Long texts are cut as in results."""

    messages: tuple[Mapping[str, Any], ...]
    wire: Mapping[str, Any] = attrs.field(repr=False)
    description: str = ""
    truncations: tuple[Truncation, ...] = ()
    handle: str | None = None

    @property
    def ok(self) -> bool:
        return True


@attrs.frozen(kw_only=True)
class Completion:
    """Suggestions for an argument. `total` is the number of all that the server has, if it says so."""

    values: tuple[str, ...] = ()
    total: int | None = None
    has_more: bool = False

    @property
    def ok(self) -> bool:
        return True


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
