"""Fetches images that an answer gives by URL. The client gets their data, and never learns the URL."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

from gateway.core.contract.errors import ImageRejected
from gateway.core.contract.limits import IMAGE_MAX_BYTES
from gateway.core.outbound.public_fetch import FetchError
from inference.adapters import fetched_images
from inference.adapters.exchange import NotJSONError
from inference.rules.images import check_remote, is_inline, read_data_url, read_image

TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})

ALL_MAX_BYTES = 48 * 1024 * 1024
"""The largest total size of the images by URL of one answer."""


async def with_bytes(images: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the images with `b64_json` in place of URLs. Raises NotJSONError if one cannot be fetched: there is then no
    answer, but the upstream may have charged for the image."""
    fetched = _Fetched()
    tasks = [asyncio.create_task(_with_bytes(image, fetched)) for image in images]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()  # if one failed, the others are not needed


class _Fetched:
    """Counts the bytes of one answer's images as they arrive."""

    size_bytes = 0

    def add(self, size_bytes: int) -> None:
        """Count one image. Raises NotJSONError if their total is too large."""
        self.size_bytes += size_bytes
        if self.size_bytes > ALL_MAX_BYTES:
            raise NotJSONError("the images by URL are too large together")


async def _with_bytes(image: dict[str, Any], fetched: _Fetched) -> dict[str, Any]:
    url = image.pop("url", None)
    if url is None:
        return image
    try:
        data = await _data_of(url)
    except (FetchError, ImageRejected) as error:
        raise NotJSONError(f"an image by URL: {error} {getattr(error, 'message', '')}") from error
    fetched.add(len(data))
    return {"b64_json": base64.b64encode(data).decode(), **image}


async def _data_of(url: str) -> bytes:
    if is_inline(url):
        return read_data_url(url, TYPES, "url").data
    check_remote(url, TYPES, "url")
    accept = ", ".join(sorted(TYPES))
    data = await fetched_images.FETCHER.fetch(url, max_bytes=IMAGE_MAX_BYTES, accept=accept)
    return read_image(data, TYPES, "url").data
