"""Fetches the images that a request names by URL, before anything is held for it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from gateway.core.contract.errors import ImageRejected
from gateway.core.contract.limits import IMAGE_MAX_BYTES
from gateway.core.outbound.public_fetch import FetchError, PublicFetcher
from inference.rules.images import CHAT_TYPES

FETCHER = PublicFetcher()

COPIES = 3
"""A fetched image is kept as a data URL, a third longer, and written into the JSON that is sent."""


class RemoteImage(Protocol):
    """An image by its URL, and the path of the member that names it."""

    @property
    def url(self) -> str: ...

    @property
    def param(self) -> str: ...


Image = TypeVar("Image", bound=RemoteImage)


async def fetch_images(images: Sequence[Image], take_memory: Callable[[int], None]) -> Mapping[Image, bytes]:
    """Return the bytes of each image, once `take_memory` has counted them. Raises ImageRejected naming the member, or what
    `take_memory` raises."""
    fetched = await _fetch_all(images)
    size_bytes = sum(len(data) for data in fetched)
    if size_bytes > IMAGE_MAX_BYTES:
        raise ImageRejected(f"The images together may have {IMAGE_MAX_BYTES} bytes.", param=images[-1].param)
    take_memory(size_bytes * COPIES)
    return dict(zip(images, fetched, strict=True))


async def _fetch_all(images: Sequence[RemoteImage]) -> list[bytes]:
    tasks = [asyncio.create_task(_fetch(image)) for image in images]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()  # the others are of no use where one failed


async def _fetch(image: RemoteImage) -> bytes:
    try:
        return await FETCHER.fetch(image.url, max_bytes=IMAGE_MAX_BYTES, accept=", ".join(sorted(CHAT_TYPES)))
    except FetchError as error:
        raise ImageRejected(f"The image could not be fetched: {error}.", param=image.param) from error
