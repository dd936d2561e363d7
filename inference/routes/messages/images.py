"""Finds the images in a request's messages, and replaces their sources for the upstream."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import FETCHED_IMAGES_MAX
from inference.interface.model import ServedModel
from inference.rules.images import CHAT_TYPES, Image, check_remote, read_data_url

Source = Mapping[str, Any]


class ImageAt(NamedTuple):
    """One image by the indices of its message, its block, and its part of a tool's result (None: the block itself), with its
    address, which may be a data URL."""

    message: int
    block: int
    part: int | None
    url: str

    @property
    def param(self) -> str:
        """Return the path of the image's source."""
        within = "" if self.part is None else f".content.{self.part}"
        return f"messages.{self.message}.content.{self.block}{within}.source"


Sources = Mapping[ImageAt, Source]


def read_images(messages: list[Any], *, model: ServedModel) -> tuple[Sources, tuple[ImageAt, ...]]:
    """Check every image; return replacements for sources with a wrong media type, and the images to fetch.

    An upstream that fetches images itself gets their URLs. Raises ImageRejected or InvalidRequest naming the source.
    """
    relabelled: dict[ImageAt, Source] = {}
    remote = []
    for image, source in _images(messages):
        if source.get("type") == "url":
            check_remote(image.url, CHAT_TYPES, image.param)
            remote.append(image)
            continue
        read = read_data_url(image.url, CHAT_TYPES, image.param)
        if source.get("media_type") != read.media_type:
            relabelled[image] = source_of(read)
    if remote and model.fetches_images:
        return relabelled, ()
    if len(remote) > FETCHED_IMAGES_MAX:
        param = remote[FETCHED_IMAGES_MAX].param
        raise InvalidRequest(f"At most {FETCHED_IMAGES_MAX} images may be URLs.", param=param)
    return relabelled, tuple(remote)


def source_of(image: Image) -> Source:
    """Return the source of an image's bytes."""
    return {"type": "base64", "media_type": image.media_type, "data": base64.b64encode(image.data).decode()}


def with_sources(body: Mapping[str, Any], sources: Sources) -> Mapping[str, Any]:
    """Return a copy of a body with other sources for some images."""
    if not sources:
        return body
    messages = list(body["messages"])
    for image, source in sources.items():
        message = messages[image.message]
        content = [*message["content"]]
        content[image.block] = _with_source(content[image.block], image.part, source)
        messages[image.message] = {**message, "content": content}
    return {**body, "messages": messages}


def _with_source(block: Mapping[str, Any], part: int | None, source: Source) -> dict[str, Any]:
    if part is None:
        return {**block, "source": source}
    parts = [*block["content"]]
    parts[part] = {**parts[part], "source": source}
    return {**block, "content": parts}


def _images(messages: list[Any]) -> Iterator[tuple[ImageAt, Source]]:
    for at, message in enumerate(messages):
        content = message.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if block.get("type") == "image":
                yield _image(at, index, None, block["source"])
            parts = block.get("content") if block.get("type") == "tool_result" else None
            for part, inner in enumerate(parts if isinstance(parts, list) else ()):
                if inner.get("type") == "image":
                    yield _image(at, index, part, inner["source"])


def _image(message: int, block: int, part: int | None, source: Source) -> tuple[ImageAt, Source]:
    """Return an image with its source. Media types that are no plain word fail the check of the data URL."""
    url = source["url"] if source["type"] == "url" else f"data:{source.get('media_type')};base64,{source['data']}"
    return ImageAt(message, block, part, url), source
