"""Fetches the images that an embedding request names by URL."""

from collections.abc import Mapping
from dataclasses import replace

from gateway.core.api.offload import offload
from inference.adapters import fetched_images
from inference.metering.route import MeteredRequest
from inference.routes.embeddings.bound import BoundedEmbeddings
from inference.routes.embeddings.items import IMAGE_LIMITS, ImageInput, images_of, inline_bytes
from inference.routes.embeddings.represented_bound import BoundedRepresented
from inference.rules.images import read_image

Bounded = BoundedEmbeddings | BoundedRepresented


async def fetch_images(http: MeteredRequest, request: Bounded) -> Bounded:
    """Put the images' data where their URLs stood. Raises ImageRejected naming the member, or NotReady."""
    if not isinstance(request, BoundedRepresented):
        return request
    images = list(images_of(request.asked.inputs))
    remote = [image for image in images if image.is_remote]
    if not remote:
        return request
    fetched = await fetched_images.fetch_images(
        remote, http.take_memory, IMAGE_LIMITS, inline_bytes=inline_bytes(images)
    )
    return await offload(_with_images, request, fetched)


def _with_images(request: BoundedRepresented, fetched: Mapping[ImageInput, bytes]) -> BoundedRepresented:
    limits = IMAGE_LIMITS
    read = {image: read_image(data, limits.types, image.param, limits.one_max_bytes) for image, data in fetched.items()}
    inputs = tuple(
        ImageInput(item.index, read[item].url, len(read[item].data))
        if isinstance(item, ImageInput) and item in read
        else item
        for item in request.asked.inputs
    )
    return replace(request, asked=replace(request.asked, inputs=inputs))
