"""`POST /v1/judgement`: the route's declaration for the metering core, and its view."""

from functools import partial

from gateway.core.api.access import requires_metered
from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import ImageRejected, ImagesUnsupported, RateLimited
from gateway.core.contract.limits import JUDGEMENT_IMAGE_MAX_BYTES, JUDGEMENT_IMAGES_MAX
from gateway.core.database import BatchFunction
from gateway.core.http.lean import LeanAnswer, LeanRequest
from inference.adapters import fetched_images
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.rules.images import Image, read_image
from inference.rules.terms import read_terms_with_optional_key
from judgement.endpoints import ENDPOINTS
from judgement.route.bound import BoundedJudgement, bound_judgement
from judgement.route.check import check, read_judgement
from judgement.route.reference import describe_judgement
from judgement.route.request import IMAGE_TYPES, RemoteImage

TOGETHER_MAX_BYTES = JUDGEMENT_IMAGE_MAX_BYTES * JUDGEMENT_IMAGES_MAX

CLOSE_AND_COUNT = BatchFunction(0, "judgement_close_calls")


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


JUDGEMENT = MeteredRoute(
    name=Route.JUDGEMENT,
    id_prefix="jdg",
    read=read_judgement,
    check=partial(check, endpoints=ENDPOINTS),
    bound=bound_judgement,
    prepare=fetch_images,
    endpoints=ENDPOINTS,
    scopes=lambda model: (Capability.JUDGEMENT_EVALUATE,),
    terms=read_terms_with_optional_key,
    close_function=CLOSE_AND_COUNT,
)


class JudgementViewSet(MeteredViewSet):
    """Answers questions about a state."""

    route = JUDGEMENT

    @describe_judgement
    @refuses(ImagesUnsupported, ImageRejected, RateLimited)
    @requires_metered(Capability.JUDGEMENT_EVALUATE)
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Answer typed questions about a state, each with the probability of every possible answer."""
        return await self.serve(request)
