"""Fetches the images that a chat names by URL, before anything is held for it."""

import asyncio
from dataclasses import replace

from gateway.core.api.offload import offload
from gateway.core.contract.errors import ImageRejected
from gateway.core.contract.limits import IMAGE_MAX_BYTES
from gateway.core.outbound.public_fetch import FetchError, PublicFetcher
from inference.metering.route import MeteredRequest
from inference.routes.chat.bound import BoundedChat
from inference.routes.chat.images import ImageAt, with_urls
from inference.rules.images import CHAT_TYPES, read_image

FETCHER = PublicFetcher()

COPIES = 3
"""A fetched image is kept as a data URL, a third longer, and written into the JSON that is sent."""


async def fetch_images(http: MeteredRequest, request: BoundedChat) -> BoundedChat:
    """Put the images' data where their URLs stood. Raises ImageRejected naming the member, or NotReady."""
    if not request.asked.remote_images:
        return request
    images = request.asked.remote_images
    fetched = await _fetch_all(images)
    size_bytes = sum(len(data) for data in fetched)
    if size_bytes > IMAGE_MAX_BYTES:
        raise ImageRejected(f"The images together may have {IMAGE_MAX_BYTES} bytes.", param=images[-1].param)
    http.take_memory(size_bytes * COPIES)
    return await offload(_with_images, request, dict(zip(images, fetched, strict=True)))


async def _fetch_all(images: tuple[ImageAt, ...]) -> list[bytes]:
    tasks = [asyncio.create_task(_fetch(image)) for image in images]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()  # the others are of no use where one failed


async def _fetch(image: ImageAt) -> bytes:
    try:
        return await FETCHER.fetch(image.url, max_bytes=IMAGE_MAX_BYTES, accept=", ".join(sorted(CHAT_TYPES)))
    except FetchError as error:
        raise ImageRejected(f"The image could not be fetched: {error}.", param=image.param) from error


def _with_images(request: BoundedChat, fetched: dict[ImageAt, bytes]) -> BoundedChat:
    urls = {image: read_image(data, CHAT_TYPES, image.param).url for image, data in fetched.items()}
    return replace(request, body=with_urls(request.body, urls), is_large=True)
