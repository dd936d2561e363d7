"""Images that an answer names by URL: the client gets their data, and never learns where they were."""

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
"""What the images of one answer may have together."""


async def with_bytes(images: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the images with `b64_json` where a URL stood. Raises NotJSONError where one cannot be had: what an upstream
    made and does not hand out is no answer, but may have cost something."""
    fetched = _Fetched()
    tasks = [asyncio.create_task(_with_bytes(image, fetched)) for image in images]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()  # the others are of no use where one failed


class _Fetched:
    """Counts what the images of one answer take, as they arrive."""

    size_bytes = 0

    def add(self, size_bytes: int) -> None:
        """Count one more. Raises NotJSONError where all are too large together."""
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
