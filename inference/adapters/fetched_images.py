"""Fetches the images that a request names by URL, once the ledger lets it, and before anything is held for it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from gateway.core.contract.errors import ImageRejected, RateLimited
from gateway.core.contract.limits import IMAGE_MAX_BYTES
from gateway.core.outbound.public_fetch import BusyError, FetchError, PublicFetcher
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


async def fetch_images(
    images: Sequence[Image],
    take_memory: Callable[[int], None],
    *,
    each_max_bytes: int = IMAGE_MAX_BYTES,
    together_max_bytes: int = IMAGE_MAX_BYTES,
) -> Mapping[Image, bytes]:
    """Return the bytes of each image. `take_memory` counts each as it arrives, so that images which wait for others are
    counted as well. Raises ImageRejected naming the member, RateLimited, or what `take_memory` raises."""
    arrived = _Arrived(take_memory, images[-1].param, together_max_bytes)
    tasks = [asyncio.create_task(_fetch(image, arrived, each_max_bytes)) for image in images]
    try:
        fetched = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()  # the others are of no use where one failed
    return dict(zip(images, fetched, strict=True))


class _Arrived:
    """Counts what the images of one request take. `last` is the path of the last one."""

    def __init__(self, take_memory: Callable[[int], None], last: str, max_bytes: int) -> None:
        self._take_memory, self._last, self._max_bytes = take_memory, last, max_bytes
        self._size_bytes = 0

    def add(self, size_bytes: int) -> None:
        """Count one more. Raises ImageRejected where all are too large together."""
        self._size_bytes += size_bytes
        if self._size_bytes > self._max_bytes:
            raise ImageRejected(f"All images together may have at most {self._max_bytes} bytes.", param=self._last)
        self._take_memory(size_bytes * COPIES)


async def _fetch(image: RemoteImage, arrived: _Arrived, max_bytes: int) -> bytes:
    try:
        data = await FETCHER.fetch(image.url, max_bytes=max_bytes, accept=", ".join(sorted(CHAT_TYPES)))
    except BusyError as error:
        raise RateLimited("Too many images are being fetched.", headers={"Retry-After": "1"}) from error
    except FetchError as error:
        raise ImageRejected(f"The image could not be fetched: {error}.", param=image.param) from error
    arrived.add(len(data))
    return data
