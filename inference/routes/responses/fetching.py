"""Fetches the images that a conversation names by URL, before its hold is placed."""

from collections.abc import Mapping
from dataclasses import replace

from gateway.core.runtime.offload import offload
from inference.adapters import fetched_images
from inference.metering.route import MeteredRequest
from inference.routes.responses.bound import BoundedResponse
from inference.routes.responses.images import ImageAt, with_urls
from inference.routes.responses.request import input_of
from inference.rules.images import CHAT_TYPES, read_image


async def fetch_images(http: MeteredRequest, request: BoundedResponse) -> BoundedResponse:
    """Replace image URLs with the fetched data. Raises ImageRejected naming the member, or NotReady."""
    fetched = await fetched_images.fetch_images(request.params.remote_images, http.take_memory)
    return await offload(_with_images, request, fetched)


def _with_images(request: BoundedResponse, fetched: Mapping[ImageAt, bytes]) -> BoundedResponse:
    urls = {image: read_image(data, CHAT_TYPES, image.param).url for image, data in fetched.items()}
    items = with_urls(request.params.items, urls)
    return replace(request, body={**request.body, "input": input_of(items)}, is_large=True)
