"""`POST /v1/embeddings`: the route's declaration for the metering core, and its view."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gateway.core.api.access import requires_model
from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ImageRejected, ManifestMismatch, RateLimited
from gateway.core.contract.limits import EMBEDDED_IMAGE_MAX_BYTES, EMBEDDED_IMAGES_MAX_BYTES
from gateway.core.http.lean import LeanAnswer, LeanRequest
from gateway.core.runtime.offload import offload
from inference.adapters import fetched_images
from inference.endpoints import ENDPOINTS, stated
from inference.metering.bodies import read_json_with_images
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.queries.representations import CLOSE_AND_NOTE
from inference.routes.embeddings.bound import BoundedEmbeddings, BoundedRepresented, bound_embeddings
from inference.routes.embeddings.capabilities import Capabilities
from inference.routes.embeddings.check import Valid, check
from inference.routes.embeddings.items import ImageInput, Input, images_of, inline_bytes
from inference.routes.embeddings.reference import describe_embeddings
from inference.rules.images import STILL_TYPES, read_image
from inference.rules.json_body import JsonBody

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


EMBEDDINGS: MeteredRoute[JsonBody, Valid] = MeteredRoute(
    name=Route.EMBEDDINGS,
    id_prefix="emb",
    read=read_json_with_images,
    check=partial(check, vendors=stated(Route.EMBEDDINGS, "capabilities", Capabilities)),
    bound=bound_embeddings,
    prepare=fetch_images,
    endpoints=ENDPOINTS[Route.EMBEDDINGS],
    close_function=CLOSE_AND_NOTE,
)


class EmbeddingViewSet(MeteredViewSet):
    """Embeddings of texts, token lists or images."""

    route = EMBEDDINGS

    @describe_embeddings
    @refuses(ImageRejected, ManifestMismatch, RateLimited)
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Embed the input."""
        return await self.serve(request)
