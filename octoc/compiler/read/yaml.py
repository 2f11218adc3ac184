"""YAML built from the parser's events: bounded aliases, merge keys, no tags, no surprises among plain values.

PyYAML's loaders turn `on` into true and `12:30` into 750, expand aliases without bound, and forget where values stood.
Its events do none of this, and carry exact offsets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import attrs
import yaml

from octoc.compiler.read.nodes import Duplicate, Node, Positions
from octoc.compiler.read.values import MAX_DEPTH
from octoc.diagnostics.model import KeyPath

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,99})\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+)\Z")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
# White space as YAML has it; other signs that look like it are text.
_SPACE = " \t\r\n"
MAX_ALIASED = 20_000
"""How many values all aliases of a document may stand for: each is a value again for everything that reads it."""
_MERGE = "<<"
_HIDE = {0x85: 0xF8F0, 0x2028: 0xF8F1, 0x2029: 0xF8F2}
_SHOW = {private: shown for shown, private in _HIDE.items()}
_STRING_TAGS = ("!", "tag:yaml.org,2002:str")
_STYLES = {'"': "escaped", "'": "single", "|": "block", ">": "block"}


class YamlError(ValueError):
    """What is wrong, and the offset in code points where it is. `too_deep` is its own kind."""

    def __init__(self, message: str, offset: int, *, too_deep: bool = False) -> None:
        super().__init__(message)
        self.message, self.offset, self.too_deep = message, offset, too_deep


@attrs.frozen(kw_only=True)
class YamlTree:
    """A document's value (None for an empty one) and its positions, offsets relative to the text that was parsed."""

    value: Any
    positions: Positions


def parse_yaml(text: str) -> YamlTree:
    """Return the value of one YAML document and where its parts stand.

    Plain scalars are true, false, null, decimal numbers, and else strings. Keys are strings. Where a key stands twice,
    the first counts. A value that an alias stands for is at the alias, its parts are at the anchor.

    Raises: YamlError for what is not YAML, and for what is not read: tags, keys that are not scalars, several
        documents, more than `MAX_DEPTH` levels, aliases for more than `MAX_ALIASED` values or for what holds them.
    """
    # YAML 1.1 ends a line where Unicode does; YAML 1.2, and people's editors, do not.
    plain = text.translate(_HIDE)
    try:
        try:
            return _Builder(text).build(yaml.parse(plain, Loader=_LOADER))
        except yaml.MarkedYAMLError as error:
            if "nesting depth" not in str(error.problem):
                raise
            # libyaml reads ahead to a limit of its own, far behind ours; Python's parser gives the place of ours.
            return _Builder(text).build(yaml.parse(plain, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        message = " ".join(part for part in (error.problem or "not YAML", error.context) if part)
        # What never ends is shown where it starts.
        mark = error.context_mark if "end of stream" in message and error.context_mark else error.problem_mark
        raise YamlError(message, _index(mark)) from None
    except yaml.reader.ReaderError as error:
        raise YamlError(f"character `U+{error.character:04X}` may not be in YAML", error.position) from None


def positions_if_any(text: str) -> Positions | None:
    """Return where the parts of a document stand; None when it cannot be read."""
    try:
        return parse_yaml(text).positions
    except YamlError:
        return None


@attrs.define
class _Frame:
    holder: dict[str, Any] | list[Any]
    node: Node
    path: KeyPath
    anchor: str | None = None
    key: tuple[str, Node] | None = None
    size: int = 1
    height: int = 1
    merges: bool = False


@attrs.frozen
class _Anchored:
    """What an alias stands for. `size` counts its values, `height` its levels."""

    value: Any
    node: Node
    size: int = 1
    height: int = 0


class _Builder:
    """Builds one tree; the stack is a list, so that depth is bounded by our number and not by the interpreter's."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stack: list[_Frame] = []
        self.value: Any = None
        self.root = Node(value=(0, len(text)))
        self.duplicates: list[Duplicate] = []
        self.documents = 0
        self.anchors: dict[str, _Anchored] = {}
        self.aliased = 0

    def build(self, events: Iterator[Any]) -> YamlTree:
        for event in events:
            self._take(event)
        return YamlTree(value=self.value, positions=Positions(root=self.root, duplicates=tuple(self.duplicates)))

    def _take(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(start, end)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(str(event.anchor), start, end)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise YamlError("a second document starts here, expected one", start)

    def _open(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        if event.tag is not None:
            raise YamlError(f"tag `{event.tag}` is not read", start)
        if len(self.stack) >= MAX_DEPTH:
            raise YamlError(f"more than {MAX_DEPTH} lists and objects inside each other", start, too_deep=True)
        if self.stack and isinstance(self.stack[-1].holder, dict) and self.stack[-1].key is None:
            raise YamlError("a list or an object stands where a key is expected", start)
        holder: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        node = Node(value=(start, end), anchor=(start, end) if end > start else None)
        path = self._add(holder, node)
        self.stack.append(_Frame(holder, node, path, event.anchor))

    def _close(self, start: int, end: int) -> None:
        frame = self.stack.pop()
        if end == start:
            # A block collection has no closing mark: it ends where its last part does.
            end = max((child.value[1] for child in frame.node.children.values()), default=frame.node.value[1])
        frame.node.value = (frame.node.value[0], end)
        if frame.merges and isinstance(frame.holder, dict):
            self._merge(frame, frame.holder)
        if frame.anchor:
            self.anchors[frame.anchor] = _Anchored(frame.holder, frame.node, frame.size, frame.height)
        self._count(frame.size, frame.height)

    def _count(self, size: int, height: int) -> None:
        if self.stack:
            self.stack[-1].size += size
            self.stack[-1].height = max(self.stack[-1].height, height + 1)

    def _alias(self, name: str, start: int, end: int) -> None:
        anchored = self.anchors.get(name)
        if anchored is None:
            raise YamlError(f"alias `*{name}` has no anchor `&{name}` before it", start)
        if self.stack and isinstance(self.stack[-1].holder, dict) and self.stack[-1].key is None:
            raise YamlError(f"alias `*{name}` stands where a key is expected", start)
        self.aliased += anchored.size
        if self.aliased > MAX_ALIASED:
            raise YamlError(f"aliases stand for more than {MAX_ALIASED} values", start)
        if len(self.stack) + anchored.height > MAX_DEPTH:
            raise YamlError(f"more than {MAX_DEPTH} lists and objects inside each other", start, too_deep=True)
        self._add(anchored.value, Node(value=(start, end), children=anchored.node.children))
        self._count(anchored.size, anchored.height)

    def _merge(self, frame: _Frame, holder: dict[str, Any]) -> None:
        """Add what `<<` names, an object or a list of them, where the object has no such key; the first one wins."""
        merged, node = holder.pop(_MERGE), frame.node.children.pop(_MERGE)
        is_list = isinstance(merged, list)
        for index, source in enumerate(merged if is_list else [merged]):
            if not isinstance(source, dict):
                raise YamlError("`<<` takes an object, or a list of objects", node.value[0])
            parts = node.children[index].children if is_list else node.children
            for key in source.keys() - holder.keys():
                frame.node.children[key] = parts[key]
            holder.update({key: value for key, value in source.items() if key not in holder})

    def _scalar(self, event: Any) -> None:
        start, end, text = event.start_mark.index, event.end_mark.index, event.value.translate(_SHOW)
        if event.tag is not None and event.tag not in _STRING_TAGS:
            raise YamlError(f"tag `{event.tag}` is not read", start)
        plain = event.implicit[0] and event.style in (None, "")
        style = _STYLES.get(event.style or "", "plain")
        if event.anchor or event.tag:
            # Properties stand before the value, inside the range that the parser tells.
            start = self.text.rfind(text, start, end) if style == "plain" and text else start
        if style in ("plain", "block"):
            end = max(start, self._before_space(end))
        if start == end:
            # Nothing is written: the place is after the colon or the dash, not at the next token.
            start = end = self._before_space(start)
        node = Node(value=(start, end), style=style)
        frame = self.stack[-1] if self.stack else None
        value = _resolve(text) if plain else text
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(value, node)
        if frame is not None and isinstance(frame.holder, dict) and frame.key is None:
            frame.key = (text, node)
            frame.merges |= plain and text == _MERGE
            return
        self._add(value, node)
        self._count(1, 0)

    def _before_space(self, offset: int) -> int:
        while offset > 0 and self.text[offset - 1] in _SPACE:
            offset -= 1
        return offset

    def _add(self, value: Any, node: Node) -> KeyPath:
        if not self.stack:
            self.value, self.root = value, node
            return ()
        frame = self.stack[-1]
        if isinstance(frame.holder, list):
            index = len(frame.holder)
            frame.holder.append(value)
            frame.node.children[index] = node
            return (*frame.path, index)
        key, key_node = frame.key or ("", node)
        frame.key = None
        path = (*frame.path, key)
        if key in frame.holder:
            first = frame.node.children[key].key or (0, 0)
            is_same = not isinstance(value, (dict, list)) and frame.holder[key] == value
            self.duplicates.append(Duplicate(path=path, first=first, second=key_node.value, is_same=is_same))
            return path
        frame.holder[key] = value
        frame.node.children[key] = node
        node.key = key_node.value
        node.anchor = node.anchor or key_node.value
        return path


def _index(mark: Any) -> int:
    # The two kinds of mark of PyYAML, and None, share no type.
    return int(mark.index) if mark else 0


def _resolve(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    if _FLOAT.match(text) and math.isfinite(number := float(text)):
        return number
    return text
