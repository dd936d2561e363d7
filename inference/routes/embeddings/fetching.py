"""Fetches the images that an embedding request names by URL."""

from collections.abc import Mapping
from dataclasses import replace

from gateway.core.contract.limits import EMBEDDED_IMAGE_MAX_BYTES, EMBEDDED_IMAGES_MAX_BYTES
from gateway.core.runtime.offload import offload
from inference.adapters import fetched_images
from inference.metering.route import MeteredRequest
from inference.routes.embeddings.bound import BoundedEmbeddings, BoundedRepresented
from inference.routes.embeddings.items import ImageInput, Input, images_of, inline_bytes
from inference.rules.images import STILL_TYPES, read_image

Bounded = BoundedEmbeddings | BoundedRepresented


async def fetch_images(http: MeteredRequest, request: Bounded) -> Bounded:
    """Replace image URLs with the fetched data. Raises ImageRejected naming the member, or NotReady."""
    if not (isinstance(request, BoundedRepresented) and request.needs_preparing):
        return request
    images = list(images_of(request.params.inputs))
    fetched = await fetched_images.fetch_images(
        [image for image in images if image.is_remote],
        http.take_memory,
        each_max_bytes=EMBEDDED_IMAGE_MAX_BYTES,
        together_max_bytes=EMBEDDED_IMAGES_MAX_BYTES - inline_bytes(images),
    )
    return await offload(_with_images, request, fetched)


def _with_images(request: BoundedRepresented, fetched: Mapping[ImageInput, bytes]) -> BoundedRepresented:
    inputs = tuple(_with_data(item, fetched) for item in request.params.inputs)
    return replace(request, params=replace(request.params, inputs=inputs))


def _with_data(item: Input, fetched: Mapping[ImageInput, bytes]) -> Input:
    if isinstance(item, str) or item not in fetched:
        return item
    image = read_image(fetched[item], STILL_TYPES, item.param, EMBEDDED_IMAGE_MAX_BYTES)
    return ImageInput(item.index, image.url, len(image.data))
