"""Finds the images in a request's messages, and checks them."""

import base64
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import FETCHED_IMAGES_MAX
from inference.interface.model import ServedModel
from inference.routes.messages.sources import Source, SourceAt, Sources, sources_of
from inference.rules.images import CHAT_TYPES, Image, check_remote, read_data_url


def read_images(messages: list[Any], *, model: ServedModel) -> tuple[Sources, tuple[SourceAt, ...]]:
    """Check every image; return replacements for sources with a wrong media type, and the images to fetch.

    An upstream that fetches images itself gets their URLs. Raises ImageRejected or InvalidRequest naming the source.
    """
    relabelled: dict[SourceAt, Source] = {}
    remote = []
    for path, source in sources_of(messages, "image"):
        image = SourceAt(path, _url(source))
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


def _url(source: Source) -> str:
    """Return an image's address, or a data URL. Media types that are no plain word fail the check of the data URL."""
    return source["url"] if source["type"] == "url" else f"data:{source.get('media_type')};base64,{source['data']}"
