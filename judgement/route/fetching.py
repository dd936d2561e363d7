"""Gets a judgement's images, before anything is held for it."""

from collections.abc import Mapping

from gateway.core.api.offload import offload
from gateway.core.contract.limits import JUDGEMENT_IMAGE_MAX_BYTES, JUDGEMENT_IMAGES_MAX
from inference.adapters import fetched_images
from inference.metering.route import MeteredRequest
from inference.rules.images import Image, read_image
from judgement.route.bound import BoundedJudgement
from judgement.route.request import IMAGE_TYPES, JudgementRequest, RemoteImage

TOGETHER_MAX_BYTES = JUDGEMENT_IMAGE_MAX_BYTES * JUDGEMENT_IMAGES_MAX


async def fetch_images(http: MeteredRequest, request: BoundedJudgement) -> BoundedJudgement:
    """Put every image's data URL in its place, for whoever may take the call over as well. Raises ImageRejected naming the
    member, or NotReady."""
    asked = request.asked
    if not asked.images:
        return request
    remote = [image for image in asked.images if isinstance(image, RemoteImage)]
    fetched: Mapping[RemoteImage, bytes] = {}
    if remote:
        fetched = await fetched_images.fetch_images(
            remote,
            http.take_memory,
            each_max_bytes=JUDGEMENT_IMAGE_MAX_BYTES,
            together_max_bytes=TOGETHER_MAX_BYTES,
        )
    urls = await offload(_urls, asked, fetched)
    return request.with_images(urls)


def _urls(asked: JudgementRequest, fetched: Mapping[RemoteImage, bytes]) -> tuple[str, ...]:
    read = (
        image if isinstance(image, Image) else read_image(fetched[image], IMAGE_TYPES, image.param)
        for image in asked.images
    )
    return tuple(image.url for image in read)
