"""The sources of the images and documents in a request's messages: finds them, and replaces them for the upstream."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Source = Mapping[str, Any]
Path = tuple[int | str, ...]


class SourceAt(NamedTuple):
    """The source of an image or a document by the path of its block within the messages, with its address, which may be a data
    URL."""

    path: Path
    url: str

    @property
    def param(self) -> str:
        """Return the path of the source in the request."""
        return ".".join(map(str, ("messages", *self.path, "source")))

    def source_in(self, body: Mapping[str, Any]) -> Source:
        """Return the source in a request's body."""
        value: Any = body["messages"]
        for name in (*self.path, "source"):
            value = value[name]
        return value


Sources = Mapping[SourceAt, Source]


def sources_of(messages: list[Any], kind: str) -> Iterator[tuple[Path, Source]]:
    """Yield the path and the source of each block of a kind, also within results of tools and within documents."""
    for index, message in enumerate(messages):
        yield from _within(message.get("content"), (index, "content"), kind)


def _within(content: Any, path: Path, kind: str) -> Iterator[tuple[Path, Source]]:
    for index, block in enumerate(content if isinstance(content, list) else ()):
        at = (*path, index)
        if block.get("type") == kind:
            yield at, block["source"]
        if block.get("type") == "tool_result":
            yield from _within(block.get("content"), (*at, "content"), kind)
        if block.get("type") == "document":
            yield from _within(block["source"].get("content"), (*at, "source", "content"), kind)


def with_sources(body: Mapping[str, Any], sources: Sources) -> Mapping[str, Any]:
    """Return a copy of a body with other sources for some blocks."""
    messages = body["messages"]
    for at, source in sources.items():
        messages = _replaced(messages, (*at.path, "source"), source)
    return {**body, "messages": messages} if sources else body


def _replaced(value: Any, path: Path, source: Source) -> Any:
    """Return a copy of a value in which another one is at the path."""
    if not path:
        return source
    copy: Any = {**value} if isinstance(value, Mapping) else [*value]
    copy[path[0]] = _replaced(value[path[0]], path[1:], source)
    return copy
