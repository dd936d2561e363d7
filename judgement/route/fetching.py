"""Fetches the images that a judgement names by URL, before the hold."""

from gateway.core.contract.limits import JUDGEMENT_IMAGE_MAX_BYTES, JUDGEMENT_IMAGES_MAX
from inference.adapters import fetched_images
from inference.metering.route import MeteredRequest
from inference.rules.images import Image, read_image
from judgement.route.bound import BoundedJudgement
from judgement.route.request import IMAGE_TYPES, RemoteImage

TOGETHER_MAX_BYTES = JUDGEMENT_IMAGE_MAX_BYTES * JUDGEMENT_IMAGES_MAX


async def fetch_images(http: MeteredRequest, request: BoundedJudgement) -> BoundedJudgement:
    """Replace image URLs by the images. Raises ImageRejected, which names the member, or NotReady."""
    remote = [image for image in request.images if isinstance(image, RemoteImage)]
    if not remote:
        return request
    fetched = await fetched_images.fetch_images(
        remote,
        http.take_memory,
        each_max_bytes=JUDGEMENT_IMAGE_MAX_BYTES,
        together_max_bytes=TOGETHER_MAX_BYTES,
    )
    here = (
        image if isinstance(image, Image) else read_image(fetched[image], IMAGE_TYPES, image.param)
        for image in request.images
    )
    return request.with_images(tuple(here))
