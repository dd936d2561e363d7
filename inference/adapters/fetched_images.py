"""Fetches the images that a request gives by URL, after the ledger's trial and before the hold."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from gateway.core.contract.errors import ImageRejected, RateLimited
from gateway.core.contract.limits import IMAGE_MAX_BYTES
from gateway.core.outbound.public_fetch import BusyError, FetchError, PublicFetcher
from inference.rules.images import CHAT_TYPES

FETCHER = PublicFetcher()

COPIES = 3
"""Copies of an image in memory: its bytes, a data URL that is a third longer, and the JSON that is sent."""


class RemoteImage(Protocol):
    """An image given by URL, and the path of the request's member that contains the URL."""

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
    """Return the bytes of each image. `take_memory` is called as each arrives, so that images waiting for others are counted
    too. Raises ImageRejected naming the member, RateLimited, or what `take_memory` raises."""
    arrived = _Arrived(take_memory, images[-1].param, together_max_bytes)
    tasks = [asyncio.create_task(_fetch(image, arrived, each_max_bytes)) for image in images]
    try:
        fetched = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()  # if one failed, the others are not needed
    return dict(zip(images, fetched, strict=True))


class _Arrived:
    """Counts the bytes of one request's images. `last` is the path of the last one."""

    def __init__(self, take_memory: Callable[[int], None], last: str, max_bytes: int) -> None:
        self._take_memory, self._last, self._max_bytes = take_memory, last, max_bytes
        self._size_bytes = 0

    def add(self, size_bytes: int) -> None:
        """Count one image. Raises ImageRejected if their total is too large."""
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
