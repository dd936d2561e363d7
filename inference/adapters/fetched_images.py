"""Fetches the images and documents that a request gives by URL, after the ledger's trial and before the hold."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from gateway.core.contract.errors import ImageRejected, InvalidRequest
from gateway.core.contract.limits import IMAGE_MAX_BYTES
from gateway.core.contract.route_limits import rate_limited
from gateway.core.outbound.public_fetch import BusyError, FetchError, PublicFetcher
from inference.rules.images import CHAT_TYPES

FETCHER = PublicFetcher()

PDF_TYPE = "application/pdf"

COPIES = 3
"""Copies of a file in memory: its bytes, a data URL that is a third longer, and the JSON that is sent."""


class Kind(NamedTuple):
    """What is fetched: its noun, its media types, and the error of one that cannot be used."""

    noun: str
    accept: str
    rejected: type[ImageRejected | InvalidRequest]


IMAGES = Kind("image", ", ".join(sorted(CHAT_TYPES)), ImageRejected)
DOCUMENTS = Kind("document", PDF_TYPE, InvalidRequest)


class RemoteImage(Protocol):
    """A file given by URL, and the path of the request's member that contains the URL."""

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
    kind: Kind = IMAGES,
) -> Mapping[Image, bytes]:
    """Return the bytes of each image. `take_memory` is called as each arrives, so that images waiting for others are counted
    too. Raises the kind's error naming the member, RateLimited, or what `take_memory` raises."""
    arrived = _Arrived(kind, take_memory, images[-1].param, together_max_bytes)
    tasks = [asyncio.create_task(_fetch(image, arrived, each_max_bytes)) for image in images]
    try:
        fetched = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()  # if one failed, the others are not needed
    return dict(zip(images, fetched, strict=True))


class _Arrived:
    """Counts the bytes of one request's files. `last` is the path of the last one."""

    def __init__(self, kind: Kind, take_memory: Callable[[int], None], last: str, max_bytes: int) -> None:
        self.kind = kind
        self._take_memory, self._last, self._max_bytes = take_memory, last, max_bytes
        self._size_bytes = 0

    def add(self, size_bytes: int) -> None:
        """Count one file. Raises the kind's error if their total is too large."""
        self._size_bytes += size_bytes
        if self._size_bytes > self._max_bytes:
            text = f"All {self.kind.noun}s together may have at most {self._max_bytes} bytes."
            raise self.kind.rejected(text, param=self._last)
        self._take_memory(size_bytes * COPIES)


async def _fetch(image: RemoteImage, arrived: _Arrived, max_bytes: int) -> bytes:
    kind = arrived.kind
    try:
        data = await FETCHER.fetch(image.url, max_bytes=max_bytes, accept=kind.accept)
    except BusyError as error:
        raise rate_limited("account", "concurrent_fetches", 1, f"Too many {kind.noun}s are being fetched.") from error
    except FetchError as error:
        raise kind.rejected(f"The {kind.noun} could not be fetched: {error}.", param=image.param) from error
    arrived.add(len(data))
    return data
