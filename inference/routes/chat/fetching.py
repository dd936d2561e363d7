"""Fetches the images that a chat names by URL, before its hold is placed."""

from collections.abc import Mapping
from dataclasses import replace

from gateway.core.runtime.offload import offload
from inference.adapters import fetched_images
from inference.metering.route import MeteredRequest
from inference.routes.chat.bound import BoundedChat
from inference.routes.chat.images import ImageAt, with_urls
from inference.rules.images import CHAT_TYPES, read_image


async def fetch_images(http: MeteredRequest, request: BoundedChat) -> BoundedChat:
    """Replace image URLs with the fetched data. Raises ImageRejected naming the member, or NotReady."""
    fetched = await fetched_images.fetch_images(request.params.remote_images, http.take_memory)
    return await offload(_with_images, request, fetched)


def _with_images(request: BoundedChat, fetched: Mapping[ImageAt, bytes]) -> BoundedChat:
    urls = {image: read_image(data, CHAT_TYPES, image.param).url for image, data in fetched.items()}
    return replace(request, body=with_urls(request.body, urls), is_large=True)
